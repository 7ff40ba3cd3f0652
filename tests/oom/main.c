/* SPDX-License-Identifier: Apache-2.0 */

/*
 * oom HOST [all|some]: every case of oom.h, with HOST asked in place of a registry.  "some" fails the first allocations of
 * each case and then one in several; "all" fails each.  The last line is "N passed, N failed".
 *
 * oom functions: the functions that the cases call, one a line.
 */

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "oom.h"

#define MANY 100 /* of "some": failed one by one ... */
#define STRIDE 7 /* ... and then one in so many */

/* From the sanitizer's run time; absent in other builds. */
__attribute__((weak)) int __lsan_do_recoverable_leak_check(void);

char oom_unset;
const char *oom_host;

static const struct oom_case *const groups[] = {images_cases, target_cases, config_cases, run_cases};

/* ------------------------------------------------------------------ one attempt */

void attempt_begin(struct attempt *a)
{
	alloc_arm(a->at, a->on);
}

void attempt_check(struct attempt *a, bool ok, const char *what)
{
	if (!ok && !a->complaint)
		a->complaint = what;
}

void attempt_end(struct attempt *a, int result, struct imgcheck_error *err, bool has_error)
{
	unsigned line, column;
	const char *place = imgcheck_error_place(err, &line, &column);

	alloc_disarm();
	a->result = result;
	if (has_error)
		attempt_check(a, (result < 0) == (err != NULL), "the error is not set as the result says");
	if (err) {
		attempt_check(a, (int)imgcheck_error_code(err) == result, "the error has another code than the result");
		attempt_check(a, imgcheck_error_message(err)[0] != '\0', "the error says nothing");
		(void)fprintf(a->told, "%s:%u:%u: %s\n", place ? place : "", line, column, imgcheck_error_message(err));
	}
	imgcheck_error_free(err);
}

/* What was told, new; the case ran as *a says. */
static char *attempt(const struct oom_case *c, struct attempt *a)
{
	long before = alloc_balance(), after;
	char *told = NULL;
	size_t len;

	a->argument = c->argument;
	a->told = open_memstream(&told, &len);
	must(a->told != NULL, "have memory");
	c->run(a);
	after = alloc_balance();
	must(fclose(a->told) == 0, "have memory");
	attempt_check(a, after == before, "memory is left allocated, or freed twice");
	return told;
}

static void complain(const struct oom_case *c, const struct attempt *a, const char *told)
{
	(void)printf("FAIL %s, allocation %zu%s: result %d: %s\n%s", c->name, a->at, a->on ? " and all behind it" : "", a->result,
	             a->complaint, told);
}

/* ------------------------------------------------------------------ a case */

struct count {
	size_t passed, failed, allocations;
};

/* False: something is wrong.  *more: an allocation failed, so that there may be a next one. */
static bool try_one(const struct oom_case *c, const struct attempt *good, const char *good_told, struct attempt *a, bool *more)
{
	char *told = attempt(c, a);
	/* an error may be the same in fewer words */
	bool same = a->result == good->result && (a->result < 0 || strcmp(told, good_told) == 0), ok;

	*more = alloc_failed();
	attempt_check(a, same || (*more && a->result == IMGCHECK_ERR_NOMEM), "neither the result with enough memory nor NOMEM");
	ok = !a->complaint;
	if (!ok) {
		struct attempt again = {.at = a->at, .on = a->on};

		complain(c, a, told);
		(void)fflush(stdout);
		alloc_show(true);
		free(attempt(c, &again));
		alloc_show(false);
	}
	free(told);
	return ok;
}

static size_t next(size_t at, bool all)
{
	return all || at < MANY ? at + 1 : at + STRIDE;
}

/* Fails one allocation after the other, alone and with all behind it. */
static bool sweep(const struct oom_case *c, bool all, size_t *failed)
{
	struct attempt good = {0};
	char *told = attempt(c, &good);
	bool ok = !good.complaint;

	if (!ok)
		complain(c, &good, told);
	for (int on = 0; ok && on < 2; on++) {
		bool more = true;

		for (size_t at = 1; ok && more; at = next(at, all)) {
			struct attempt a = {.at = at, .on = on};

			ok = try_one(c, &good, told, &a, &more);
			*failed += more;
		}
	}
	free(told);
	return ok;
}

static void run_case(const struct oom_case *c, bool all, struct count *count)
{
	size_t failed = 0;
	bool ok = sweep(c, all, &failed);

	if (ok && __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check()) {
		(void)printf("FAIL %s: memory leaked, see the log\n", c->name);
		ok = false;
	}
	(void)printf("%-60s %6zu\n", c->name, failed);
	(void)fflush(stdout);
	count->allocations += failed;
	count->passed += ok;
	count->failed += !ok;
}

static void run_plain(struct count *count)
{
	static const struct oom_case plain = {"functions that need no memory", call_plain_functions, NULL};
	struct attempt a = {0};
	char *told = attempt(&plain, &a);

	if (a.complaint)
		complain(&plain, &a, "");
	count->passed += !a.complaint;
	count->failed += a.complaint != NULL;
	free(told);
}

static void print_functions(void)
{
	struct attempt a = {.told = stdout};

	call_plain_functions(&a);
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
		for (const struct oom_case *c = groups[g]; c->name; c++)
			(void)printf("%.*s\n", (int)strcspn(c->name, ":"), c->name);
}

int main(int argc, char **argv)
{
	struct count count = {0};
	bool all = argc > 2 && strcmp(argv[2], "all") == 0;
	const char *only = argc > 3 ? argv[3] : "";

	alloc_init();
	if (argc == 2 && strcmp(argv[1], "functions") == 0) {
		print_functions();
		return 0;
	}
	must(argc > 1, "be told a host");
	oom_host = argv[1];
	if (!*only)
		run_plain(&count);
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
		for (const struct oom_case *c = groups[g]; c->name; c++)
			if (strstr(c->name, only))
				run_case(c, all, &count);
	(void)printf("%zu allocations failed\n%zu passed, %zu failed\n", count.allocations, count.passed, count.failed);
	return count.failed > 0;
}
