/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_TESTS_OOM_ALLOC_H
#define IC_TESTS_OOM_ALLOC_H

/*
 * Allocations that fail when told to.  The link of a test program puts these in place of the calls that our objects
 * and libyaml's make (-Wl,--wrap, a static libyaml); jansson is told by its own hook.  What libc allocates in one
 * call of ours (scandir, realpath, tsearch) counts as one allocation, and so does making an object of libcurl or
 * libcrypto: what those libraries do inside is not ours.
 */

#include <stdbool.h>
#include <stddef.h>

/* Must come before any use of jansson. */
void alloc_init(void);

/* From here on the n-th allocation (from 1; 0: none) fails, and with `on` all that follow it too. */
void alloc_arm(size_t n, bool on);

/* From here on an allocation that fails prints from where it was asked for, in a sanitizer's build (shown). */
void alloc_show(bool shown);

/* The first allocation that fails writes a byte there (0: nowhere). */
void alloc_report(int fd);

/* From here on none fails, and none is counted. */
void alloc_disarm(void);

/* Allocations since alloc_arm(), and whether one of them failed. */
size_t alloc_count(void);
bool alloc_failed(void);

/* Allocated and not freed, of all that goes through here, armed or not. */
long alloc_balance(void);

#endif
