/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_CONNECTION_H
#define FAULT_CONNECTION_H

/* One connection of the fault server: reads requests, plays the steps of their rules.  Never blocks. */

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdio.h>

#include "script.h"

struct connection;

/* Takes the socket over.  context: for TLS, else NULL.  log may be NULL. */
struct connection *connection_new(int fd, SSL_CTX *context, FILE *log);
void connection_free(struct connection *c);

int connection_fd(const struct connection *c);

/* What poll() should wait for, and until when at the latest (milliseconds of the monotonic clock; -1: no limit). */
short connection_wants(const struct connection *c, long long *until);

/* Does what can be done now.  False: the connection is over. */
bool connection_act(struct connection *c, short events);

long long now_ms(void);

#endif
