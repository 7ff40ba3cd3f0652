/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_POD_SECRETS_H
#define IC_SOURCE_POD_SECRETS_H

/*
 * The credentials that an image's own workloads bring: the Secrets that their imagePullSecrets or those of their
 * ServiceAccount name, where these stand among the manifests.  They are hostile and secret.
 */

#include "base/buf.h"

struct ic_pod_secrets {
	struct ic_vec files; /* struct ic_authfile, in the order of the workloads and their lists */
	char *lacking;       /* what is not there, or NULL.  May hold any bytes but no secret */
	char *broken;        /* what cannot be read, and why, so that the kubelet pulls nothing; or NULL.  The same */
};

/* Fills *out, cleared with ic_pod_secrets_clear().  Errors: NOMEM, LIMIT. */
int ic_pod_secrets_read(const struct imgcheck_images *s, const struct imgcheck_image *m, struct ic_pod_secrets *out,
                        struct imgcheck_error **err) IC_MUST_CHECK;
void ic_pod_secrets_clear(struct ic_pod_secrets *p);

static inline void ic_auto_pod_secrets(struct ic_pod_secrets *p)
{
	ic_pod_secrets_clear(p);
}

#endif
