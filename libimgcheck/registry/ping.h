/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_PING_H
#define IC_REGISTRY_PING_H

/*
 * GET /v2/, with which containers/image begins at each host (docker/docker_client.go, detectProperties): only 200 and
 * 401 are a registry's, and what either challenges is how all later requests are authorized.
 *
 * Used by exchange.c for hosts that are not known yet.
 */

#include "registry/session.h"

struct ic_ping;

/* Asks the endpoint's host; its waiters go on when it has answered, and find it known, or unusable. */
void ic_ping_start(struct ic_session *s, struct ic_host_state *host, const struct ic_endpoint *endpoint);

void ic_ping_free(struct ic_ping *ping);

#endif
