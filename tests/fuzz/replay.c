/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds files to a harness, one call each, without libFuzzer: replay FILE... */
#include <stdio.h>

#include "fuzz.h"

#define MAX_INPUT_BYTES (1 << 24)

int main(int argc, char **argv)
{
	static uint8_t data[MAX_INPUT_BYTES];

	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		uint8_t *exact;
		size_t size;

		if (!f) {
			perror(argv[i]);
			return 1;
		}
		size = fread(data, 1, sizeof(data), f);
		(void)fclose(f);
		/* exactly as large as the input, so that the sanitizer sees a read behind its end */
		exact = malloc(size ? size : 1);
		FUZZ_REQUIRE(exact);
		for (size_t byte = 0; byte < size; byte++)
			exact[byte] = data[byte];
		(void)LLVMFuzzerTestOneInput(exact, size);
		free(exact);
	}
	printf("%d\n", argc - 1);
	return 0;
}
