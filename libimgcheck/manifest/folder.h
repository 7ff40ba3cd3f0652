/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_FOLDER_H
#define IC_MANIFEST_FOLDER_H

/*
 * The manifests below a folder: names that end in .yaml, .yml or .json, also with a template's ending (.j2,
 * .in, .tmpl, .tpl) behind, at any depth, in sorted order.  Hidden names are left out, links to folders are
 * not followed.  At most IC_MAX_FILES files, and 64 folders deep.
 */

#include "base/buf.h"

/*
 * Adds the paths to files (ic_texts), each beginning with path.  On failure those found so far are there.
 * Errors: IO with the folder as place, LIMIT, NOMEM.
 */
int ic_folder_list(const char *path, struct ic_vec *files, struct imgcheck_error **err) IC_MUST_CHECK;

/* Whether the name is one of a manifest. */
bool ic_folder_is_manifest(const char *name);

#endif
