/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_TESTS_FUZZ_FUZZ_H
#define IC_TESTS_FUZZ_FUZZ_H

/*
 * What each harness fuzz_<name>.c defines: libFuzzer calls it with bytes of its own, replay.c with the files of
 * tests/fuzz/corpus/<name>.  A property that does not hold ends the process.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_REQUIRE(property) \
	do {                       \
		if (!(property))       \
			abort();           \
	} while (0)

#endif
