/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_TESTS_OOM_OOM_H
#define IC_TESTS_OOM_OOM_H

/*
 * One public call with its n-th allocation failing, for each n until it succeeds.
 *
 * A case makes what the call needs, makes the call between attempt_begin() and attempt_end(), tells what came of it
 * with attempt_tell(), and frees everything.  It is run once with enough memory, and then for each n; every time the
 * result has to be that of the first run, and if that is good be told in the same words, or IMGCHECK_ERR_NOMEM with an
 * error that says so.  Nothing may be left allocated.  Helpers that are not the call under test end the program when they fail.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "imgcheck.h"

struct attempt {
	size_t at; /* the allocation that fails; 0: none */
	bool on;   /* and all behind it */
	const char *argument; /* of the case */
	int result;
	FILE *told; /* what came of it */
	const char *complaint; /* the first thing wrong, NULL for none */
};

struct oom_case {
	const char *name; /* "imgcheck_images_add_data: what": begins with the function */
	void (*run)(struct attempt *a);
	const char *argument; /* for run(), NULL where it needs none */
};

void attempt_begin(struct attempt *a);

/* err: what the call set, taken; told where the call failed. */
void attempt_end(struct attempt *a, int result, struct imgcheck_error *err, bool has_error);

/* Notes what is wrong where ok is false. */
void attempt_check(struct attempt *a, bool ok, const char *what);

#define CALL(a, call, err)                          \
	do {                                            \
		int result_;                                \
                                                    \
		attempt_begin(a);                           \
		result_ = (call);                           \
		attempt_end((a), result_, (err), true);     \
		(err) = NULL;                               \
	} while (0)

#define CALL_WITHOUT_ERROR(a, call)                 \
	do {                                            \
		int result_;                                \
                                                    \
		attempt_begin(a);                           \
		result_ = (call);                           \
		attempt_end((a), result_, NULL, false);     \
	} while (0)

/* An output pointer that must be cleared: not NULL, and nothing that could be used. */
#define UNSET ((void *)&oom_unset)
extern char oom_unset;

/* ------------------------------------------------------------------ helpers */

/* Ends the program unless ok. */
void must(bool ok, const char *what);

char *load(const char *path, size_t *len); /* a file: new */
struct imgcheck_images *new_images(const char *values);
struct imgcheck_config *new_config(void);

/* Everything that is known of the images, of a config as far as explain tells it, and a report as JSON. */
void tell_images(struct attempt *a, const struct imgcheck_images *s);
void tell_config(struct attempt *a, const struct imgcheck_config *c, const char *ref);
void tell_report(struct attempt *a, const struct imgcheck_report *p);

/* The bytes that a call put out, released; where it failed, both outputs have to be cleared. */
void tell_output(struct attempt *a, char *out, size_t len);

/* Ends of these are a case without a name. */
extern const struct oom_case images_cases[], target_cases[], config_cases[], run_cases[];

/* Calls every function that allocates nothing, and tells their names, one a line. */
void call_plain_functions(struct attempt *a);

/* The base URL of the stand-in for a registry, without the scheme: from the command line. */
extern const char *oom_host;

#endif
