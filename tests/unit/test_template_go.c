/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "manifest/template_go.h"

TEST(template_go, tells_the_two_apart)
{
	static const struct {
		const char *tag;
		bool go;
	} rows[] = {
		{"{{ .Values.x }}", true},
		{"{{.}}", true},
		{"{{- . | quote }}", true},
		{"{{ include \"x\" . | nindent 4 }}", true},
		{"{{ if eq .a \"b\" }}", true},
		{"{{ else }}", true},
		{"{{- end -}}", true},
		{"{{ range $i, $e := .list }}", true},
		{"{{ $x }}", true},
		{"{{ `raw` }}", true},
		{"{{/* note */}}", true},
		{"{{ template \"x\" }}", true},
		{"{{ index .Values \"a\" }}", true},
		{"{{ printf \"%s\" (.x) }}", true},
		{"{{ registry|default('x') }}", false},
		{"{{ a.b }}", false},
		{"{{ a['$x'] }}", false},
		{"{{ '.x' }}", false},
		{"{{ 'a .b' ~ c }}", false},
		{"{{ a + .5 }}", false},
		{"{{ ending }}", false},
		{"{{ range(3) }}", false},
		{"{% if .x %}", false},
		{"{{", false},
		{"text .x", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_assert_eq(ic_template_looks_go(rows[i].tag, strlen(rows[i].tag)), rows[i].go, "%s", rows[i].tag);
}
