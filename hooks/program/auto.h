/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_AUTO_H
#define HOOKS_AUTO_H

/*
 * Scope cleanup for locals of the programs: a local marked AUTO(kind) is released when its scope ends;
 * TAKE() hands it over instead.
 */

#include <jansson.h>
#include <stdlib.h>

#include "imgcheck.h"

#define AUTO(kind) __attribute__((cleanup(auto_##kind)))

#define DEFINE_AUTO(kind, type, release)             \
	static inline void auto_##kind(type **p)     \
	{                                            \
		release(*p);                         \
	}

#define TAKE(p)                       \
	__extension__({               \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;           \
		taken_;               \
	})

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PRINTF(text, first) __attribute__((format(printf, text, first)))

static inline void auto_free(void *p)
{
	free(*(void **)p);
}

DEFINE_AUTO(json, json_t, json_decref)
DEFINE_AUTO(error, struct imgcheck_error, imgcheck_error_free)
DEFINE_AUTO(images, struct imgcheck_images, imgcheck_images_free)
DEFINE_AUTO(target, struct imgcheck_target, imgcheck_target_free)
DEFINE_AUTO(config, struct imgcheck_config, imgcheck_config_free)
DEFINE_AUTO(run, struct imgcheck_run, imgcheck_run_free)
DEFINE_AUTO(report, struct imgcheck_report, imgcheck_report_free)

#endif
