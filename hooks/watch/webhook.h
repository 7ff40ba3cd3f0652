/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_WEBHOOK_H
#define HOOKS_WATCH_WEBHOOK_H

/*
 * Posts an event to a URL.  The one place of the programs that names libcurl: a POST of a text and the status of the
 * answer are of no use to those who link the library, and its transport sends what registries want.  The same care is
 * taken: only http and https, certificates verified, no redirect followed (the receiver is who was named), nothing
 * from a configuration file of curl's, time limits, and the answer's body dropped.  A URL can hold a secret: it is never
 * shown, but for scheme and host.
 */

#include <stddef.h>

struct webhook_answer {
	long status;       /* 0: there was none */
	long retry_after;  /* seconds, as the receiver asks; 0 where it does not */
	char *problem;     /* new: why it counts as not delivered; NULL where it was (2xx) */
};

/* "https://host:port" of a URL that can be posted to: new, or NULL. */
char *webhook_shown(const char *url);

/* proxies as the environment has them.  The answer is for webhook_answer_clear(). */
void webhook_post(const char *url, const char *media_type, const char *body, struct webhook_answer *out);

void webhook_answer_clear(struct webhook_answer *a);

#endif
