/* SPDX-License-Identifier: Apache-2.0 */
#include "imgcheck.h"

const char *imgcheck_version(void)
{
	return IMGCHECK_VERSION;
}
