/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BASE_CLEANUP_H
#define IC_BASE_CLEANUP_H

/*
 * Scope cleanup for locals.  A local marked IC_AUTO(kind) is released when its scope ends, on every
 * path; IC_TAKE() hands it over to the caller instead.  Each module with an object of its own defines
 * its ic_auto_<kind>() beside the object's free or clear function, with IC_DEFINE_AUTO where it frees.
 */

#include <stdlib.h>

#define IC_AUTO(kind) __attribute__((cleanup(ic_auto_##kind)))

/* For objects behind a pointer: releases *p with release(). */
#define IC_DEFINE_AUTO(kind, type, release)             \
	static inline void ic_auto_##kind(type **p)         \
	{                                                   \
		release(*p);                                    \
	}

/* Takes the value out of a local, which then no longer owns it. */
#define IC_TAKE(p)                    \
	__extension__({                   \
		__typeof__(p) taken_ = (p);   \
		(p) = NULL;                   \
		taken_;                       \
	})

static inline void ic_auto_free(void *p)
{
	free(*(void **)p);
}

#define IC_MUST_CHECK __attribute__((warn_unused_result))
#define IC_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define IC_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
