/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"

#include <time.h>

ic_msec ic_clock_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (ic_msec)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
