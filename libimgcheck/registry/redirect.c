/* SPDX-License-Identifier: Apache-2.0 */
#include "redirect.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "registry/url.h"

static bool is_redirect(long status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* The same host name or a sub-domain of it; an address has none. */
static bool is_within(const char *url, const char *domain)
{
	struct ic_url parts;
	const char *name, *parent;
	size_t len, parent_len;

	if (!ic_url_parse(url, &parts))
		return false;
	ic_url_host_name(&parts, &name, &len);
	if (!ic_url_parse(domain, &parts))
		return false;
	ic_url_host_name(&parts, &parent, &parent_len);
	if (len < parent_len || strncasecmp(name + len - parent_len, parent, parent_len) != 0)
		return false;
	return len == parent_len || (name[0] != '[' && name[len - parent_len - 1] == '.');
}

static bool is_downgrade(const char *from, const char *to)
{
	return strncasecmp(from, "https:", 6) == 0 && strncasecmp(to, "http:", 5) == 0;
}

int ic_redirect_decide(const struct ic_redirect_step *step, const struct ic_http_answer *answer,
                       struct ic_redirect *out, struct imgcheck_error **err)
{
	const char *location = ic_http_header(answer, "location", 0);
	char *url IC_AUTO(free) = NULL;
	bool keep;
	int result;

	*out = (struct ic_redirect){.method = step->method};
	if (!is_redirect(answer->status) || !location || !location[0])
		return 0;
	if (step->hops >= IC_MAX_REDIRECTS)
		return ic_error_set(err, IMGCHECK_ERR_LIMIT, "cannot follow more than %d redirects", IC_MAX_REDIRECTS);
	result = ic_url_resolve(step->url, location, &url, err);
	if (result < 0)
		return result;
	if (step->method == IC_HTTP_PUT && (answer->status < 307 || !is_within(url, step->first) || is_downgrade(step->url, url)))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot follow a redirect (%ld) of what is written to another place",
		                    answer->status);
	keep = step->credentials && is_within(url, step->first);
	if (keep && is_downgrade(step->url, url))
		return ic_error_set(err, IMGCHECK_ERR_SYNTAX, "cannot follow a redirect from https to http with credentials");
	if (answer->status <= 303 && step->method == IC_HTTP_POST)
		out->method = IC_HTTP_GET;
	out->keep_credentials = keep;
	out->url = IC_TAKE(url);
	return 0;
}
