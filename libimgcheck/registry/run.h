/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REGISTRY_RUN_H
#define IC_REGISTRY_RUN_H

/*
 * One check of a set of images (imgcheck_run), seen from the report: the config and images it borrows and
 * the result of each image.
 */

#include "registry/result.h"

const struct imgcheck_config *ic_run_config(const struct imgcheck_run *r);
const struct imgcheck_images *ic_run_images(const struct imgcheck_run *r);

/* The i-th image's result: borrowed.  An image not decided yet has the verdict `deadline`. */
const struct ic_result *ic_run_result(const struct imgcheck_run *r, size_t i);

#endif
