/* SPDX-License-Identifier: Apache-2.0 */
#include "source/helper.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "source/host.h"
#include "source/secret.h"

#define HUB_SERVER "https://index.docker.io/v1/" /* under which `docker login` keeps it */
#define TOKEN_USER "<token>"

static void login_clear(struct ic_helper_login *login)
{
	free(login->helper);
	free(login->server);
	ic_secret_free(login->user);
	ic_secret_free(login->secret);
	ic_secret_free(login->identity_token);
	free(login->problem);
}

void ic_helper_logins_init(struct ic_helper_logins *h)
{
	*h = (struct ic_helper_logins){0};
	ic_vec_init(&h->list, sizeof(struct ic_helper_login), IC_MAX_LIST_ITEMS);
}

void ic_helper_logins_clear(struct ic_helper_logins *h)
{
	for (size_t i = 0; i < h->list.count; i++)
		login_clear(ic_vec_at(&h->list, i));
	ic_vec_clear(&h->list);
}

static const struct ic_helper_login *find(const struct ic_helper_logins *h, const char *helper, const char *server)
{
	for (size_t i = 0; i < h->list.count; i++) {
		const struct ic_helper_login *login = ic_vec_at(&h->list, i);

		if (strcmp(login->helper, helper) == 0 && strcmp(login->server, server) == 0)
			return login;
	}
	return NULL;
}

/* Takes the texts of the answer. */
static void take(struct ic_helper_login *login, struct imgcheck_login *answer, bool failed)
{
	if (failed) {
		login->problem = answer->problem ? IC_TAKE(answer->problem) : ic_text_copy("no reason given", strlen("no reason given"));
	} else if (answer->user && answer->secret && strcmp(answer->user, TOKEN_USER) == 0) {
		login->identity_token = IC_TAKE(answer->secret);
	} else if (answer->user && answer->user[0] && answer->secret) {
		login->user = IC_TAKE(answer->user);
		login->secret = IC_TAKE(answer->secret);
	}
	ic_secret_free(answer->user);
	ic_secret_free(answer->secret);
	free(answer->problem);
}

const char *ic_helper_server(const char *registry)
{
	return ic_host_is_hub(registry, strlen(registry)) ? HUB_SERVER : registry;
}

int ic_helper_ask(struct ic_helper_logins *h, const char *helper, const char *server, const struct ic_helper_login **out,
                  struct imgcheck_error **err)
{
	struct ic_helper_login login = {0};
	struct imgcheck_login answer = {0};
	int result = 0;

	*out = find(h, helper, server);
	if (*out)
		return 0;
	login.helper = ic_text_copy(helper, strlen(helper));
	login.server = ic_text_copy(server, strlen(server));
	if (login.helper && login.server) {
		bool failed = h->fn(h->arg, helper, server, &answer) < 0;

		take(&login, &answer, failed);
		result = failed && !login.problem ? ic_error_nomem(err) : ic_vec_push(&h->list, &login, err);
	} else {
		result = ic_error_nomem(err);
	}
	if (result < 0)
		login_clear(&login);
	else
		*out = ic_vec_at(&h->list, h->list.count - 1);
	return result;
}
