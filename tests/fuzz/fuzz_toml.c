/* SPDX-License-Identifier: Apache-2.0 */
/* TOML: an error has its place, a tree its places, and a text that is read is read again behind an empty line. */
#include <string.h>

#include "base/toml.h"
#include "fuzz.h"

static void check_node(const struct ic_node *node)
{
	FUZZ_REQUIRE(node->line > 0 && node->column > 0 && node->nodes > 0);
	for (const struct ic_item *i = ic_node_items(node); i; i = i->next)
		check_node(i->value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct imgcheck_error *err IC_AUTO(error) = NULL;
	struct ic_doc *doc IC_AUTO(doc) = NULL, *again IC_AUTO(doc) = NULL;
	char *moved IC_AUTO(free) = malloc(size + 1);
	unsigned line;

	FUZZ_REQUIRE(moved);
	moved[0] = '\n';
	if (size)
		memcpy(moved + 1, data, size);
	if (ic_toml_parse("given", (const char *)data, size, &doc, &err) < 0) {
		FUZZ_REQUIRE(imgcheck_error_place(err, &line, NULL) && line > 0);
		return 0;
	}
	check_node(doc->root);
	FUZZ_REQUIRE(ic_toml_parse("moved", moved, size + 1, &again, NULL) == 0);
	FUZZ_REQUIRE(again->root->nodes == doc->root->nodes);
	return 0;
}
