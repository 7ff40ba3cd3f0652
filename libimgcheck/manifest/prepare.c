/* SPDX-License-Identifier: Apache-2.0 */
#include "prepare.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "template.h"
#include "template_go.h"

void ic_prepared_clear(struct ic_prepared *p)
{
	ic_buf_clear(&p->owned);
	ic_vec_clear(&p->lines);
	imgcheck_error_free(p->refusal);
	p->refusal = NULL;
}

static int add_utf8(struct ic_buf *out, unsigned code, struct imgcheck_error **err)
{
	char bytes[4];
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = n; i > 1; i--) {
		bytes[i - 1] = (char)(0x80 | (code & 0x3f));
		code >>= 6;
	}
	bytes[0] = (char)(n == 1 ? code : (0xf00U >> n & 0xf0U) | code);
	return ic_buf_add(out, bytes, n, err);
}

static unsigned unit_at(const char *data, bool big_endian)
{
	unsigned first = (unsigned char)data[0], second = (unsigned char)data[1];

	return big_endian ? first << 8 | second : second << 8 | first;
}

/* UTF-16 as its byte order mark tells (Unicode, 3.10); data is behind the mark. */
static int from_utf16(const char *name, const char *data, size_t len, bool big_endian, struct ic_buf *out,
                      struct imgcheck_error **err)
{
	for (size_t i = 0; i < len; i += 2) {
		unsigned code = i + 1 < len ? unit_at(data + i, big_endian) : 0xdc00, low;
		int result;

		if (code >= 0xd800 && code < 0xdc00 && i + 3 < len) {
			low = unit_at(data + i + 2, big_endian);
			if (low >= 0xdc00 && low < 0xe000) {
				code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
				i += 2;
			}
		}
		if (code >= 0xd800 && code < 0xe000)
			return ic_error_set_at(err, IMGCHECK_ERR_SYNTAX, name, 0, 0, "cannot read: invalid UTF-16 at byte %zu", i + 2);
		result = add_utf8(out, code, err);
		if (result < 0)
			return result;
	}
	return 0;
}

static int decode(const char *name, const char *data, size_t len, struct ic_prepared *out, struct imgcheck_error **err)
{
	bool big = ic_text_starts(data, len, "\xfe\xff"), little = ic_text_starts(data, len, "\xff\xfe");
	size_t mark = ic_text_starts(data, len, "\xef\xbb\xbf") ? 3 : 0;
	int result;

	out->text = data + mark;
	out->len = len - mark;
	if (!big && !little)
		return 0;
	result = from_utf16(name, data + 2, len - 2, big, &out->owned, err);
	out->text = ic_buf_text(&out->owned);
	out->len = out->owned.len;
	return result;
}

/* Whether the first tag that is no Jinja expression is one of a Go template. */
static bool is_go(const char *text, size_t len)
{
	const char *end = text + len, *tag = text;

	while ((tag = memmem(tag, (size_t)(end - tag), "{{", 2))) {
		if (ic_template_looks_go(tag, (size_t)(end - tag)))
			return true;
		tag = memmem(tag, (size_t)(end - tag), "}}", 2); /* not at each of many openings to the same end */
		if (!tag)
			break;
	}
	return false;
}

static int render(const char *name, const json_t *values, struct ic_prepared *p, struct imgcheck_error **err)
{
	struct imgcheck_error *why IC_AUTO(error) = NULL;
	struct ic_buf rendered IC_AUTO(buf);
	int result;

	ic_buf_init(&rendered, IC_MAX_TEMPLATE_BYTES);
	result = ic_template_render(name, p->text, p->len, values, &rendered, &p->lines, &why);
	if (result == IMGCHECK_ERR_UNSUPPORTED && is_go(p->text, p->len)) {
		p->refusal = IC_TAKE(why);
		return 0;
	}
	if (result < 0) {
		if (err && !*err)
			*err = IC_TAKE(why);
		return result;
	}
	ic_buf_clear(&p->owned);
	p->owned = rendered;
	ic_buf_init(&rendered, 0);
	p->text = ic_buf_text(&p->owned);
	p->len = p->owned.len;
	p->marked = false;
	p->rendered = true;
	return 0;
}

int ic_prepare(const char *name, const char *data, size_t len, const json_t *values, struct ic_prepared *out,
               struct imgcheck_error **err)
{
	int result;

	*out = (struct ic_prepared){.text = data};
	ic_buf_init(&out->owned, IC_MAX_FILE_BYTES);
	ic_vec_init(&out->lines, sizeof(unsigned), IC_MAX_TEMPLATE_BYTES + 1);
	result = decode(name, data, len, out, err);
	if (result < 0)
		return result;
	out->marked = ic_template_has_marks(out->text, out->len);
	return values && out->marked ? render(name, values, out, err) : 0;
}

int ic_prepare_explain(const struct ic_prepared *p, const char *name, struct imgcheck_error **why, struct imgcheck_error **err)
{
	struct imgcheck_error *parser IC_AUTO(error) = IC_TAKE(*why);
	struct ic_buf rendered IC_AUTO(buf);
	unsigned line, column;
	int result;

	ic_buf_init(&rendered, IC_MAX_TEMPLATE_BYTES);
	result = ic_template_render(name, p->text, p->len, NULL, &rendered, NULL, err);
	if (result < 0)
		return result;
	(void)imgcheck_error_place(parser, &line, &column);
	return ic_error_set_at(err, IMGCHECK_ERR_UNSUPPORTED, name, line, column,
	                       "%s; the file looks like a template: set its values (--values FILE or --set NAME=VALUE)",
	                       imgcheck_error_message(parser));
}
