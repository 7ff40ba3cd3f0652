/* SPDX-License-Identifier: Apache-2.0 */
/* YAML streams: whatever comes in, the trees hold what base/node.h promises of them. */
#include <string.h>

#include "base/limits.h"
#include "base/yaml.h"
#include "fuzz.h"

/* Visits all there is; the number of nodes is what the nodes say. */
static size_t visit(const struct ic_node *node, unsigned depth)
{
	size_t nodes = 1, items = 0;

	FUZZ_REQUIRE(depth <= 4 * IC_MAX_DEPTH && node->nodes > 0);
	if (node->kind == IC_NODE_SCALAR) {
		FUZZ_REQUIRE(node->text[node->len] == '\0');
		return node->nodes; /* a long text as several */
	}
	for (const struct ic_item *i = ic_node_items(node); i; i = i->next, items++) {
		FUZZ_REQUIRE((i->key != NULL) == (node->kind == IC_NODE_MAPPING));
		nodes += visit(i->value, depth + 1) + (i->key ? visit(i->key, depth + 1) : 0);
	}
	FUZZ_REQUIRE(items == node->len && nodes == node->nodes);
	return nodes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct imgcheck_error *err IC_AUTO(error) = NULL;
	struct ic_yaml *y IC_AUTO(yaml) = NULL;
	struct ic_doc *doc = NULL;

	FUZZ_REQUIRE(ic_yaml_new_text("fuzz", (const char *)data, size, &y, NULL) == 0);
	while (ic_yaml_next(y, &doc, &err) == 0 && doc) {
		FUZZ_REQUIRE(doc->root != NULL);
		(void)visit(doc->root, 0);
		ic_doc_free(doc);
	}
	FUZZ_REQUIRE(!doc && !(err && strcmp(imgcheck_error_place(err, NULL, NULL), "fuzz") != 0));
	return 0;
}
