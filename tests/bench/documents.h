/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_BENCH_DOCUMENTS_H
#define IC_BENCH_DOCUMENTS_H

/*
 * The images of the stand-in registry: made from their repository's name whenever asked for, so that ten
 * thousand take no room.  Every other one is an index of two platforms; each platform has a config and three
 * layers, of which only the sizes exist.
 */

#include "base/buf.h"

/*
 * What is at manifests/REFERENCE or blobs/REFERENCE of the repository: fills body and *media_type.  A layer
 * has no body, only its size.  False: there is nothing.
 */
bool documents_manifest(const char *repository, const char *reference, struct ic_buf *body, const char **media_type);
bool documents_blob(const char *repository, const char *digest, struct ic_buf *body, size_t *size);

#endif
