/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_CLOCK_H
#define IC_BASE_CLOCK_H

/* Monotonic time, the only clock that the library reads. */

#include <stdint.h>

typedef int64_t ic_msec; /* milliseconds */

/* Now; the zero point is arbitrary. */
ic_msec ic_clock_now(void);

#endif
