/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a watch, hurt by a disk or an editor: what is taken can be worked with, and written and read again as it is. */
#include <string.h>

#include "fuzz.h"
#include "program/document.h"
#include "program/memory.h"
#include "watch/deliver.h"
#include "watch/gate_rule.h"
#include "watch/round.h"
#include "watch/state_file.h"

#define NOW 1800000000LL
#define DIGEST "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* NULL: it is refused. */
static char *read_and_write(const char *text, size_t len, struct state *s)
{
	json_t *document = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL), *again;
	char *fault = document ? state_file_read(s, document) : NULL, *out = NULL;

	if (document && !fault) {
		again = state_file_write(s);
		out = document_render(again);
		json_decref(again);
	}
	free(fault);
	json_decref(document);
	return out;
}

/* A round, as it goes on from there. */
static void work(struct state *s)
{
	static char name[] = "notebook", tag[] = "r.io/a:tag", ref[] = "r.io/a:1", digest[] = DIGEST;
	const struct watch_gate set = { .name = name, .candidate = tag, .served = tag, .backup = tag };
	struct gate gate = { &set, s, state_gate(s, name), NOW };
	struct answer answer = { .ref = ref, .kind = ANSWER_UNSURE };
	struct deliver d = { 0 };

	deliver_begin(&d, s, NOW);
	s->rounds++;
	round_take(s, &answer, NOW);
	answer.kind = ANSWER_PRESENT;
	answer.digest = digest;
	round_take(s, &answer, NOW);
	if (gate.g)
		gate_decide(&gate, &(struct gate_seen){ DIGEST, NULL, NULL });
	state_forget_hosts(s, NOW);
	for (size_t i = 0; i < s->host_count; i++)
		FUZZ_REQUIRE(s->hosts[i].until > NOW && s->hosts[i].until <= NOW + STATE_MOST_REST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct state s = { .lock = -1 }, t = { .lock = -1 };
	char *text = read_and_write((const char *)data, size, &s), *again;

	if (text) {
		again = read_and_write(text, strlen(text), &t);
		FUZZ_REQUIRE(again && !strcmp(text, again));
		free(again);
		work(&s);
	}
	free(text);
	state_close(&s);
	state_close(&t);
	return 0;
}
