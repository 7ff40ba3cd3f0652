/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: each line of the output has a line of the template, and what has no marks prints as it is. */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "fuzz.h"
#include "manifest/template.h"

static const char values_text[] =
	"{\"registry\": \"r.example:5000\", \"arch\": \"amd64\", \"n\": 3, \"half\": 0.5, \"yes\": true, \"none\": null,"
	" \"a\": [1, \"b\", [2]], \"pillar\": {\"dns_domain\": \"x\", \"num_nodes\": 3}, \"wide\": \"\\u00e9\"}";

static size_t count_lines(const struct ic_buf *out)
{
	size_t lines = 0;

	for (size_t i = 0; i < out->len; i++)
		lines += out->data[i] == '\n' || i + 1 == out->len;
	return lines;
}

static size_t count_newlines(const char *text, size_t size)
{
	size_t lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n' || (text[i] == '\r' && (i + 1 == size || text[i + 1] != '\n'));
	return lines;
}

static void render(const char *text, size_t size, const json_t *values)
{
	struct imgcheck_error *err IC_AUTO(error) = NULL;
	struct ic_buf out IC_AUTO(buf);
	struct ic_vec lines IC_AUTO(vec);
	size_t newlines = count_newlines(text, size);

	ic_buf_init(&out, IC_MAX_TEMPLATE_BYTES);
	ic_vec_init(&lines, sizeof(unsigned), IC_MAX_TEMPLATE_BYTES);
	if (ic_template_render("t", text, size, values, &out, &lines, &err) < 0) {
		FUZZ_REQUIRE(err && out.len == 0 && lines.count == 0);
		return;
	}
	FUZZ_REQUIRE(lines.count == count_lines(&out));
	for (size_t i = 0; i < lines.count; i++)
		FUZZ_REQUIRE(*(unsigned *)ic_vec_at(&lines, i) - 1 < newlines);
	if (!ic_template_has_marks(text, size) && !memchr(text, '\r', size) && !memmem(text, size, "{#", 2))
		FUZZ_REQUIRE(out.len + 1 >= size && memcmp(ic_buf_text(&out), text, out.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char nothing[1];
	const char *text = size ? (const char *)data : nothing;
	json_t *values IC_AUTO(json) = NULL;
	struct ic_vec keys IC_AUTO(texts);
	bool truth;
	int result;

	ic_texts_init(&keys, 64);
	FUZZ_REQUIRE(ic_json_parse(NULL, values_text, strlen(values_text), &values, NULL) == 0);
	render(text, size, values);
	result = ic_expression_test("t", 1, text, size, values, &truth, NULL);
	FUZZ_REQUIRE(result == 0 || !truth);
	result = ic_expression_keys("t", 1, text, size, "pillar", &keys, NULL);
	FUZZ_REQUIRE(result <= 0);
	return 0;
}
