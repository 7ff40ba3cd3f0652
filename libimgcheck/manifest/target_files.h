/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TARGET_FILES_H
#define IC_MANIFEST_TARGET_FILES_H

/*
 * Which files of a target are needed under its configuration.  Called by the target.
 *
 * A pattern of `when` with a '/' is one for the path from the top of the snap, one without for the file's name;
 * `*` matches a '/' too.  A file that several rules name is needed if all of them hold: each rule is a
 * condition, and a file under a false one must not be read.  A rule that cannot be evaluated counts as true, so
 * that its images are seen beside its problem.
 */

#include "manifest/target.h"

/*
 * Adds the needed files (texts: paths from the top of the snap, sorted) and what is wrong (struct imgcheck_error *,
 * which the caller frees): paths and patterns that match nothing, links that lead out of the snap, conditions
 * that cannot be evaluated.  Errors: NOMEM, LIMIT.
 */
int ic_target_files(const struct imgcheck_target *t, struct ic_vec *files, struct ic_vec *problems,
                    struct imgcheck_error **err) IC_MUST_CHECK;

/* 1: what is there behind all links is not below the folder; 0: it is, or nothing is there.  Errors: NOMEM. */
int ic_target_leads_out(const char *dir, const char *path, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
