/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_FOLDER_H
#define IC_MANIFEST_FOLDER_H

/*
 * The manifests below a folder: names that end in .yaml, .yml or .json, also with a template's ending (.j2,
 * .jinja2, .tmpl ...) behind, at any depth, in sorted order.  Hidden names are left out; links are followed, but
 * not back to a folder above.  At most IC_MAX_FILES files, as many folders, and 64 of them deep.
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
