/* SPDX-License-Identifier: Apache-2.0 */

/* The fault server refuses scripts that it does not understand, with the line. */

#include "fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static const struct {
	const char *script;
	const char *message; /* NULL: the script is right */
} scripts[] = {
	{"", NULL},
	{"# nothing\n\n   \n", NULL},
	{"on GET /\n\tstatus 200 OK\n\tbody a \\\n\t\tb\n", NULL},
	{"let a b\non * ${a}${sha256:a}${size:a}${base}${host}${port}\n", NULL},
	{"status 200 OK\n", ":1: no rule: begin one with `on` or `accept`"},
	{"on GET /\n\n\tanswer 200\n", ":3: no such step: answer"},
	{"on GET\n", ":1: no path: on METHODS PATH"},
	{"on GET /\n\tdelay soon\n", ":2: not a number: soon"},
	{"on GET /\n\tdelay -1\n", ":2: not a number: -1"},
	{"on GET /\n\tdrip 0 1\n", ":2: no bytes: drip N MS"},
	{"on GET /\n\trepeat\n", ":2: no bytes: repeat TEXT"},
	{"on GET /\n\tif accept json\n", ":2: no colon: accept json"},
	{"on GET /\n\tbody ${a}\n", ":2: no such name: a"},
	{"on GET /\n\tbody ${sha256:a}\n", ":2: no such name: a"},
	{"on GET /\n\tbody \\q\n", ":2: no such escape: q"},
	{"on GET /\n\tbody \\xzz\n", ":2: not a byte in hex: zz"},
	{"on GET /\n\tbody-file nowhere\n", ":2: cannot open: "},
};

TEST(fault, refuses_wrong_scripts)
{
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		char *message = fault_check(scripts[i].script);

		if (scripts[i].message)
			cr_expect(strstr(message, scripts[i].message), "%s: %s", scripts[i].script, message);
		else
			cr_expect_eq(*message, '\0', "%s: %s", scripts[i].script, message);
		free(message);
	}
}
