/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_HOST_H
#define IC_SOURCE_HOST_H

/*
 * host[:port] texts as they stand in references, settings and keys of auth files: names, IPv4 addresses
 * and IPv6 addresses in brackets.  Nothing is looked up.
 */

#include <stdbool.h>
#include <stddef.h>

struct ic_host {
	const char *name; /* without brackets: borrowed from the text */
	size_t len;
	unsigned port;    /* 0 where none is written */
	bool ipv6;        /* it stood in brackets */
};

/* Takes the whole text apart.  False where it is not a host[:port]. */
bool ic_host_parse(const char *text, size_t len, struct ic_host *out);

/*
 * Whether two hosts are the same: names without regard to case, ports after default_port stands for one
 * that is not written.
 */
bool ic_host_same(const struct ic_host *a, const struct ic_host *b, unsigned default_port);

/* The bytes of an IPv4 (4) or IPv6 (16) address; returns how many, 0 for a name. */
size_t ic_host_address(const struct ic_host *h, unsigned char out[16]);

/* localhost, 127.0.0.0/8 or ::1. */
bool ic_host_is_loopback(const struct ic_host *h);

/* 443 for "https", 80 for "http". */
unsigned ic_host_default_port(const char *scheme);

/* Whether the host is one of Docker Hub's: docker.io in references, and the two that serve it. */
bool ic_host_is_hub(const char *host, size_t len);

#endif
