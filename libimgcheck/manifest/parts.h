/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_PARTS_H
#define IC_MANIFEST_PARTS_H

/*
 * References that are written in parts: registry, name, tag and digest under keys of their own.  Pure; called
 * by the rules.  Each function appends the joined text to out (ic_parts_init), and nothing where the node is
 * no such image or what it makes is longer than any reference.  Errors: NOMEM.
 */

#include "base/node.h"

void ic_parts_init(struct ic_buf *out);

/*
 * Helm values: {registry, repository, image or name, tag or version, digest}.  *untagged: a tag has its
 * place, but is not given.
 */
int ic_parts_helm(const struct ic_node *node, struct ic_buf *out, bool *untagged, struct imgcheck_error **err) IC_MUST_CHECK;

/* The keys of those, NULL behind the last. */
extern const char *const ic_parts_helm_keys[];

/* An item of kustomize's images: {name or newName, newTag, digest}, or "name=REF" as Argo CD has it. */
int ic_parts_kustomize(const struct ic_node *node, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

/* Flux: {url: oci://HOST/NAME, ref: {tag, digest}}. */
int ic_parts_flux(const struct ic_node *node, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

/* The text of the first of two members that is there and not empty, or NULL; other may be NULL. */
const char *ic_part(const struct ic_node *node, const char *key, const char *other);

#endif
