/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_REPORT_REPORT_H
#define IC_REPORT_REPORT_H

/*
 * The report (imgcheck_report): what a run found out about each image, judged by the policy.  It stands
 * alone: everything is copied from the run, its images and its config.  Texts came from outside and are
 * hostile; the renderings escape them.
 */

#include "base/buf.h"
#include "registry/result.h"

/* A place that names an image; texts are NULL where not known. */
struct ic_report_origin {
	char *file, *object, *path, *pull_policy, *pull_secrets, *node_arch, *namespace_;
	unsigned line; /* 0 where not known */
	enum imgcheck_class class;
};

struct ic_report_image {
	struct ic_result result;
	char *text;            /* as written */
	char *target;          /* what was asked, in full (docker.io/library/...), NULL where that is no reference */
	char *source;          /* what can be copied there, in full; NULL where nothing helps or it is not known */
	bool insecure_target, insecure_source; /* whose host is asked without TLS or without verifying it */
	struct ic_vec origins; /* struct ic_report_origin */
	enum imgcheck_class class;
	enum imgcheck_outcome outcome;
	enum imgcheck_decision effect;
	bool unproven; /* on-unproven made a warning of a veto */
};

struct ic_report_problem {
	char *place, *message; /* escaped already; place NULL where not known */
	unsigned line, column;
	enum imgcheck_err code;
	enum imgcheck_outcome outcome; /* `ok` for a mere finding */
	enum imgcheck_decision effect;
};

struct imgcheck_report {
	struct ic_vec images;    /* struct ic_report_image */
	struct ic_vec problems;  /* struct ic_report_problem */
	struct ic_vec platforms; /* texts */
	struct ic_vec remedy;    /* texts */
	char *subject, *consequence, *depth;
	enum imgcheck_decision decision;
};

const struct ic_report_image *ic_report_image(const struct imgcheck_report *p, size_t i);
const struct ic_report_problem *ic_report_problem(const struct imgcheck_report *p, size_t i);

/* What was asked: the reference after rewriting, or the text as written.  Borrowed. */
const char *ic_report_image_reference(const struct ic_report_image *m);

/* The renderings: append to out, whose ceiling holds. */
int ic_report_render_json(const struct imgcheck_report *p, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;
int ic_report_render_text(const struct imgcheck_report *p, struct ic_buf *out, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
