/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_TESTS_UNIT_FAULT_H
#define IC_TESTS_UNIT_FAULT_H

/*
 * The fault server (tests/fault) for unit tests: started with a script, asked what it saw, stopped.  All
 * failures end the test.
 */

#include <stddef.h>
#include <sys/types.h>

struct fault {
	char base[64];    /* "http://127.0.0.1:PORT" */
	char folder[64];  /* temporary, for the script and the log */
	pid_t pid;
	int input;        /* closing it ends the server */
};

/* script: a text in the format of tests/fault/script.h. */
void fault_start(struct fault *f, const char *script);

/* The same with a script file under tests/data/fault. */
void fault_start_file(struct fault *f, const char *name);

/* The same with TLS: pair is one of tests/fault/certs.sh in folder certs; client_ca (or NULL): clients need a certificate. */
void fault_start_tls(struct fault *f, const char *script, const char *certs, const char *pair, const char *client_ca);

/* What the server says about a script, on standard error: new, "" where it takes it. */
char *fault_check(const char *script);

/* Stops it; its exit status must be 0, so that a sanitizer's finding in it fails the test. */
void fault_stop(struct fault *f);

/* A temporary folder with the certificates of tests/fault/certs.sh, and its removal. */
void fault_certs_make(char *folder, size_t size);
void fault_certs_remove(const char *folder);

/* The log so far: new. */
char *fault_log(const struct fault *f);

/* How many requests matched the glob "METHOD TARGET". */
size_t fault_requests(const struct fault *f, const char *glob);
size_t fault_connections(const struct fault *f);

/* The largest number of requests that were unanswered at one time. */
size_t fault_most_at_once(const struct fault *f);

#endif
