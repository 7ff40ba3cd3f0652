/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/form.h"

#include <string.h>

#include "base/cleanup.h"
#include "test.h"

#define DIGEST "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(form, by_place)
{
	static const struct {
		const char *text;
		enum ic_form container, named, elsewhere;
	} rows[] = {
		{"r.example/app:1", IC_FORM_REFERENCE, IC_FORM_REFERENCE, IC_FORM_REFERENCE},
		{"r.example/app" DIGEST, IC_FORM_REFERENCE, IC_FORM_REFERENCE, IC_FORM_REFERENCE},
		{"r.example/app", IC_FORM_REFERENCE, IC_FORM_REFERENCE, IC_FORM_OTHER},
		{"org/app:1", IC_FORM_REFERENCE, IC_FORM_REFERENCE, IC_FORM_REFERENCE},
		{"busybox:1.28", IC_FORM_REFERENCE, IC_FORM_REFERENCE, IC_FORM_OTHER},
		{"nginx", IC_FORM_REFERENCE, IC_FORM_OTHER, IC_FORM_OTHER},
		{"", IC_FORM_UNRESOLVED, IC_FORM_OTHER, IC_FORM_OTHER},
		{"two words", IC_FORM_UNRESOLVED, IC_FORM_OTHER, IC_FORM_OTHER},
		{"*:*", IC_FORM_UNRESOLVED, IC_FORM_OTHER, IC_FORM_OTHER},
		{"https://example.com/logo.png", IC_FORM_UNRESOLVED, IC_FORM_OTHER, IC_FORM_OTHER},
		{"images/logo.png", IC_FORM_REFERENCE, IC_FORM_OTHER, IC_FORM_OTHER},
		{"images/icon:v2.png", IC_FORM_REFERENCE, IC_FORM_OTHER, IC_FORM_OTHER},
		/* ports of services */
		{"default/service:8080", IC_FORM_REFERENCE, IC_FORM_REFERENCE, IC_FORM_OTHER},
		{"org/app:8", IC_FORM_REFERENCE, IC_FORM_REFERENCE, IC_FORM_REFERENCE},
		{"r.example/app:8080", IC_FORM_REFERENCE, IC_FORM_REFERENCE, IC_FORM_REFERENCE},
		{"localhost:5000/app:80", IC_FORM_REFERENCE, IC_FORM_REFERENCE, IC_FORM_REFERENCE},
		/* placeholders */
		{"${REGISTRY}/app:${TAG:-1.0}", IC_FORM_UNRESOLVED, IC_FORM_UNRESOLVED, IC_FORM_OTHER},
		{"$(a)/$(b)", IC_FORM_UNRESOLVED, IC_FORM_UNRESOLVED, IC_FORM_OTHER},
		{"r/app:v$VERSION", IC_FORM_UNRESOLVED, IC_FORM_UNRESOLVED, IC_FORM_OTHER},
		{"{{ .Values.image }}:{{ .Values.tag }}", IC_FORM_UNRESOLVED, IC_FORM_UNRESOLVED, IC_FORM_OTHER},
		{"+IMAGE+", IC_FORM_UNRESOLVED, IC_FORM_UNRESOLVED, IC_FORM_OTHER},
		{"r.example/<NAME>:1", IC_FORM_UNRESOLVED, IC_FORM_UNRESOLVED, IC_FORM_OTHER},
		{"__IMAGE__:1", IC_FORM_UNRESOLVED, IC_FORM_UNRESOLVED, IC_FORM_OTHER},
		{"@IMAGE@", IC_FORM_UNRESOLVED, IC_FORM_UNRESOLVED, IC_FORM_OTHER},
		{"%IMAGE%", IC_FORM_UNRESOLVED, IC_FORM_UNRESOLVED, IC_FORM_OTHER},
		{"a $ is no placeholder", IC_FORM_UNRESOLVED, IC_FORM_OTHER, IC_FORM_OTHER},
		{"{{ unclosed", IC_FORM_UNRESOLVED, IC_FORM_OTHER, IC_FORM_OTHER},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++) {
		size_t len = strlen(rows[i].text);

		cr_expect_eq(ic_form_in_container(rows[i].text, len), rows[i].container, "%s", rows[i].text);
		cr_expect_eq(ic_form_named_image(rows[i].text, len), rows[i].named, "%s", rows[i].text);
		cr_expect_eq(ic_form_elsewhere(rows[i].text, len), rows[i].elsewhere, "%s", rows[i].text);
	}
}

TEST(form, long_and_binary_texts)
{
	static char text[4096];

	memset(text, 'a', sizeof(text));
	memcpy(text, "r.example/", 10);
	text[2000] = ':';
	cr_expect_eq(ic_form_in_container(text, sizeof(text)), IC_FORM_UNRESOLVED);
	cr_expect_eq(ic_form_named_image(text, sizeof(text)), IC_FORM_OTHER);
	cr_expect_eq(ic_form_elsewhere(text, sizeof(text)), IC_FORM_OTHER);
	cr_expect_eq(ic_form_in_container("r.example/a\0b:1", 15), IC_FORM_UNRESOLVED);
	cr_expect_eq(ic_form_elsewhere("r.example/a\0b:1", 15), IC_FORM_OTHER);
}

TEST(form, names)
{
	static const struct {
		const char *name;
		bool says;
	} rows[] = {
		{"image", true},       {"sidecarImage", true},     {"OPERATOR_IMAGE", true},     {"KAFKA_IMAGES", true},
		{"--helper-image", true}, {"RELATED_IMAGE_FOO", true}, {"IMAGE_PULL_POLICY", false}, {"IMAGE_TAG", false},
		{"IMAGE_DIR", false},  {"imag", false},            {"", false},                  {"imageName", false},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++)
		cr_expect_eq(ic_name_says_image(rows[i].name, strlen(rows[i].name)), rows[i].says, "%s", rows[i].name);
}

TEST(form, hosts)
{
	static const struct {
		const char *text;
		bool has;
	} rows[] = {
		{"r.example/a", true}, {"localhost/a", true}, {"reg:5000/a", true},
		{"org/a", false},      {"r.example", false},  {"/a", false},
	};

	for (size_t i = 0; i < IC_COUNT(rows); i++)
		cr_expect_eq(ic_form_has_host(rows[i].text, strlen(rows[i].text)), rows[i].has, "%s", rows[i].text);
}
