/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_SCRIPT_H
#define FAULT_SCRIPT_H

/*
 * The scripts of the fault server.  A script is a text file; it says which bytes answer which request:
 *
 *     # a registry that asks for patience once
 *     let manifest {"schemaVersion": 2}
 *
 *     on GET,HEAD /v2/a/manifests/1.?
 *         times 1
 *         status 429 Too Many Requests
 *         header Retry-After: 1
 *
 *     on GET,HEAD /v2/a/manifests/1.?
 *         if accept: *json*
 *         status 200 OK
 *         header Docker-Content-Digest: ${sha256:manifest}
 *         body ${manifest}
 *
 * A line that begins with `#`, or blank, says nothing.  A backslash at the end of a line joins the next one
 * to it.  Indentation is for the eye alone.  The first rule that matches a request is taken; a request that
 * none matches is answered with 404 and logged as "no rule".
 *
 * Rules
 *     on METHODS PATH    METHODS: names joined by commas, or *.  PATH: a glob over the whole target with its
 *                        query; * and ? stand for `/` too
 *     accept             taken when a connection opens, before any request
 *
 * Conditions of a rule, in front of its steps
 *     if NAME: GLOB      the request has that field, and its value matches
 *     unless NAME        the request does not have that field
 *     if-body GLOB       its body matches
 *     times N            the rule is taken N times only
 *
 * Steps, in order
 *     status CODE TEXT   begins an answer: "HTTP/1.1 CODE TEXT"
 *     header NAME: TEXT  a header field
 *     body TEXT          ends the header with a Content-Length (where none was given) and sends the text;
 *                        a HEAD gets the length without the text
 *     body-file PATH     the same with a file, beside the script
 *     body-size N        the same with N bytes "x"
 *     end                ends the header with nothing added
 *     send TEXT          these bytes as they are
 *     repeat TEXT        these bytes again and again, until the client goes
 *     drip N MS          from here on N bytes every MS milliseconds
 *     delay MS           waits
 *     stall              sends nothing more, and keeps the connection
 *     close              closes the connection
 *     reset              closes it with a reset
 * A header that is still open behind the last step is ended with "Content-Length: 0".  Then the connection
 * waits for the next request.
 *
 * Texts may hold \n \r \t \\ \xNN, and
 *     ${NAME}            what `let NAME TEXT` or `let-file NAME PATH` said above
 *     ${sha256:NAME}     "sha256:..." of it, in hex
 *     ${size:NAME}       its length in bytes
 *     ${base} ${host} ${port}   of this server: http://127.0.0.1:PORT, 127.0.0.1:PORT, PORT
 */

#include <stdbool.h>
#include <stddef.h>

enum step_kind {
	STEP_STATUS, STEP_HEADER, STEP_BODY, STEP_BODY_SIZE, STEP_END, STEP_SEND, STEP_REPEAT,
	STEP_DRIP, STEP_DELAY, STEP_STALL, STEP_CLOSE, STEP_RESET
};

struct text {
	char *data; /* NUL-terminated beyond len */
	size_t len;
};

struct step {
	enum step_kind kind;
	struct text text;
	long first, second; /* the numbers of a step */
};

enum condition_kind { CONDITION_FIELD, CONDITION_NO_FIELD, CONDITION_BODY };

struct condition {
	enum condition_kind kind;
	char *name, *glob;
};

struct rule {
	int line;
	bool on_accept;
	char *methods, *path;
	long times; /* left; -1: no limit */
	struct condition *conditions;
	size_t condition_count;
	struct step *steps;
	size_t step_count;
};

struct request {
	const char *method, *target, *body;
	char *const *fields; /* "name: value", names in lower case */
	size_t field_count;
};

/* Reads the script; ends the program with a message where it is wrong. */
void script_read(const char *path, const char *scheme, int port);

/* The rule for a request, or for a new connection (NULL), counted as taken.  NULL: none. */
const struct rule *script_match(const struct request *request);

/* Ends the program with a message. */
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...);

/* realloc() that cannot fail. */
void *grow(void *old, size_t size);

#endif
