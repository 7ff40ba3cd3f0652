/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/memory.h"
#include "program/status.h"
#include "test.h"

#define GATE "gates:\n- name: a\n  candidate: r.io/a:next\n  served: r.io/a:stable\n  backup: r.io/a:old\n  validate: [./v]\n"

/* Reads the text as a file; what is said about it goes to said, without the folder. */
static int read_text(const char *text, struct watch_config *c, char *said, size_t size)
{
	char folder[] = "/tmp/imgcheck-watch-XXXXXX", path[64], errors[64];
	FILE *out;
	int status;
	size_t got;

	test_folder(folder);
	(void)snprintf(path, sizeof(path), "%s/w.yaml", folder);
	(void)snprintf(errors, sizeof(errors), "%s/errors", folder);
	out = fopen(path, "w");
	cr_assert_not_null(out);
	fputs(text, out);
	fclose(out);
	fflush(stderr);
	cr_assert_not_null(freopen(errors, "w+", stderr));
	status = watch_config_read(path, c);
	fflush(stderr);
	rewind(stderr);
	got = fread(said, 1, size - 1, stderr);
	said[got] = '\0';
	unlink(path);
	unlink(errors);
	rmdir(folder);
	return status;
}

TEST(watch_config, reads_all)
{
	static const char text[] =
		"images: [{paths: [m/, /abs/x.yaml]}, {image: quay.io/org/notebook:latest}]\n"
		"registry: registry.internal:5000/cdk\n"
		"plain-http: [registry.internal:5000, other:80]\n"
		"cacert: ca.pem\n"
		"values: {arch: amd64, n: 3}\n"
		"gates:\n"
		"  - name: notebook\n"
		"    candidate: registry.internal/nb/notebook:next\n"
		"    served:    registry.internal/nb/notebook:stable\n"
		"    backup:    registry.internal/nb/notebook:previous\n"
		"    copy:      [skopeo, copy, --all]\n"
		"    validate:  [./validate.sh]\n"
		"    timeout:   60\n";
	AUTO(watch_config) struct watch_config c = { 0 };
	const struct watch_gate *g;
	char said[1024];
	AUTO(free) char *path = NULL;

	cr_assert_eq(read_text(text, &c, said, sizeof(said)), 0, "%s", said);
	path = memory_printf("%s/m/", c.folder);
	cr_expect_eq(c.paths.count, 2);
	cr_expect_str_eq(c.paths.line[0], path);
	cr_expect_str_eq(c.paths.line[1], "/abs/x.yaml");
	cr_expect_eq(c.refs.count, 1);
	cr_expect_str_eq(c.values.line[1], "n=3");
	cr_expect_eq(c.options.count, 3);
	cr_expect_eq(c.files.count, 1);
	cr_expect_eq(c.files.given[0].path[0], '/');
	g = watch_config_gate(&c, "notebook");
	cr_assert_not_null(g);
	cr_expect_str_eq(g->candidate, "registry.internal/nb/notebook:next");
	cr_expect_str_eq(g->backup, "registry.internal/nb/notebook:previous");
	cr_expect_eq(g->copy.count, 3);
	cr_expect_str_eq(g->validate.line[0], "./validate.sh");
	cr_expect_eq(g->seconds, 60);
	cr_expect_null(watch_config_gate(&c, "other"));
}

TEST(watch_config, a_gate_has_defaults)
{
	AUTO(watch_config) struct watch_config c = { 0 };
	char said[1024];

	cr_assert_eq(read_text(GATE, &c, said, sizeof(said)), 0, "%s", said);
	cr_expect_eq(c.gates[0].seconds, WATCH_GATE_SECONDS);
	cr_expect_eq(c.gates[0].copy.count, 0);
}

TEST(watch_config, refuses_and_names_the_line)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{"", "w.yaml:1: cannot use this as a configuration: it is no mapping"},
		{"images: []\n", "w.yaml:1: cannot use a configuration without 'images' and 'gates'"},
		{"images: []\nimage: x\n", "w.yaml:2: cannot use 'image': there is no such key in a configuration"},
		{"images: x\n", "w.yaml:1: cannot use 'images': it is no list"},
		{"images:\n- a:1\n", "w.yaml:2: cannot use this as an item of images: it is no mapping"},
		{"images:\n- {path: [a]}\n", "w.yaml:2: cannot use 'path': there is no such key in an item of images"},
		{"images:\n- {paths: a}\n", "w.yaml:2: cannot use this here: it is no list"},
		{"images:\n- {paths: []}\n", "w.yaml:2: cannot use this here: it is no list"},
		{"images:\n- {paths: [[]]}\n", "w.yaml:2: cannot use this here: it is no text"},
		{"images:\n- {image: 'a b'}\n", "w.yaml:2: cannot watch this: it is no image reference"},
		{"images:\n- {image: }\n", "w.yaml:2: cannot watch this: it is no image reference"},
		{"images: [{image: a}]\nruntime: docker\n", "w.yaml:2: "},
		{"images: [{image: a}]\nplain-http:\n- ok:80\n- 'not a host'\n", "w.yaml:4: "},
		{"images: [{image: a}]\ndepth: blobs\n", "w.yaml:2: cannot use 'depth': there is no such key"},
		{"images: [{image: a}]\nauthfile: [a]\n", "w.yaml:2: cannot use this here: it is no name of a file"},
		{"images: [{image: a}]\nvalues: [a]\n", "w.yaml:2: cannot use 'values': it is no mapping"},
		{"images: [{image: a}]\nvalues:\n  a: [b]\n", "w.yaml:3: cannot use the value 'a': it is no text"},
		{"images: [{image: a}]\nimages: []\n", "w.yaml:2:1: "},
		{"gates: {}\n", "w.yaml:1: cannot use 'gates': it is no list"},
		{"gates:\n- name: a\n", "w.yaml:2: cannot use a gate without 'candidate'"},
		{GATE "  retries: 1\n", "w.yaml:7: cannot use 'retries': there is no such key in a gate"},
		{GATE "  timeout: 0\n", "w.yaml:7: cannot use this as a timeout: give seconds, 1 to 86400"},
		{GATE "  timeout: 1h\n", "w.yaml:7: cannot use this as a timeout"},
		{GATE "- {name: a, candidate: 'r.io/b:1', served: 'r.io/b:2', backup: 'r.io/b:3', validate: [v]}\n",
		 "w.yaml:7: cannot use gate 'a': there is one of this name above"},
		{"gates:\n- {name: a b, candidate: 'r.io/b:1', served: 'r.io/b:2', backup: 'r.io/b:3', validate: [v]}\n",
		 "w.yaml:2: cannot use 'a b' as the name of a gate"},
		{"gates:\n- {name: a, candidate: 'r.io/c:1', served: 'r.io/b:2', backup: 'r.io/b:3', validate: [v]}\n",
		 "w.yaml:2: cannot use gate 'a': r.io/c:1 is in another repository than r.io/b:2"},
		{"gates:\n- {name: a, candidate: 'r.io/b:1', served: 'r.io/b:2', backup: 'r.io/b:1', validate: [v]}\n",
		 "w.yaml:2: cannot use gate 'a': two of its tags are the same, '1'"},
		{"gates:\n- {name: a, candidate: 'x:1', served: 'x:2', backup: 'x:3', validate: [v]}\n"
		 "- {name: b, candidate: 'x:4', served: 'x:5', backup: 'docker.io/library/x:2', validate: [v]}\n",
		 "w.yaml:3: cannot use gate 'b': gate 'a' sets docker.io/library/x:2 too"},
		{"gates:\n- {name: a, candidate: 'NO', served: 'r.io/b:2', backup: 'r.io/b:3', validate: [v]}\n",
		 "w.yaml:2: cannot use gate 'a': NO is no reference with a tag"},
		{"gates:\n- {name: a, candidate: 'r.io/b:1', served: 'r.io/b:2', backup: 'r.io/b:3', validate: []}\n",
		 "w.yaml:2: cannot use this here: it is no list, or an empty one"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		AUTO(watch_config) struct watch_config c = { 0 };
		char said[1024];

		cr_expect_eq(read_text(cases[i].text, &c, said, sizeof(said)), STATUS_USAGE, "%s", cases[i].text);
		cr_expect(strstr(said, cases[i].said), "%s: %s", cases[i].text, said);
	}
}

TEST(watch_config, images_and_how_to_ask)
{
	AUTO(watch_config) struct watch_config c = { 0 };
	AUTO(images) struct imgcheck_images *images = NULL;
	AUTO(config) struct imgcheck_config *config = NULL;
	char said[1024];

	cr_assert_eq(read_text("images: [{image: 'b:1'}, {image: a}, {paths: [nowhere]}]\nplain-http: h:80\n", &c, said,
			       sizeof(said)), 0);
	images = watch_config_images(&c);
	cr_assert_not_null(images);
	cr_expect_eq(imgcheck_images_count(images), 2);
	cr_expect_not_null(imgcheck_images_problem(images, 0));
	config = watch_config_library(&c);
	cr_expect_not_null(config);
}
