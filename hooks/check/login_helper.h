/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_LOGIN_HELPER_H
#define HOOKS_LOGIN_HELPER_H

/*
 * Runs docker-credential-<name> for the library, by the protocol of docker-credential-helpers: "get" as the argument, the
 * server's name on standard input, an object with Username and Secret on standard output.  A helper that hangs is
 * ended, with what it started; what it prints in place of an object is never repeated, since it can hold a secret.
 */

#include "program/auto.h"

/* An imgcheck_login_fn; arg is the time limit in milliseconds, an int64_t, or NULL for 15 s. */
int login_helper_ask(void *arg, const char *helper, const char *server, struct imgcheck_login *out);

#endif
