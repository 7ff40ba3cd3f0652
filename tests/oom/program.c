/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Linked with the command: the n-th allocation fails that it makes, with all behind it or alone.  The environment says
 * which, IMGCHECK_OOM="N FD" or "N+ FD"; the one that fails is told by a byte to the descriptor.
 */

#include <stdlib.h>

#include "alloc.h"

__attribute__((constructor)) static void arm(void)
{
	const char *text = getenv("IMGCHECK_OOM");
	char *end;
	size_t n = text ? strtoul(text, &end, 10) : 0;

	if (!n)
		return;
	alloc_report((int)strtol(*end == '+' ? end + 1 : end, NULL, 10));
	alloc_arm(n, *end == '+');
}
