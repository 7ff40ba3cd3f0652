/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_TARGET_H
#define IC_MANIFEST_TARGET_H

/*
 * An unpacked snap with its imgcheck.yaml (imgcheck_target): which of its manifests apply under which
 * configuration, and what their templates may use.  target.c is the object and the public calls,
 * target_parse.c reads the description, target_values.c gives values, target_files.c finds the files.
 *
 * It fails closed.  The description and the configuration come with a snap and are hostile: a name in them
 * never leads out of the snap's folder.
 */

#include "base/node.h"
#include "manifest/target_config.h"

struct imgcheck_target {
	char *dir;
	char *file;                       /* of the description, for errors: from the top of the snap, or as it was named */
	struct ic_doc *doc;               /* the description; the nodes below stand in it, and are valid when it was read */
	const struct ic_node *configured; /* an expression, or NULL */
	const struct ic_node *paths;      /* texts, at least one */
	const struct ic_node *when;       /* rules with "files" and "if", or NULL */
	const struct ic_node *values;     /* a mapping, or NULL */
	const struct ic_node *ignore;     /* texts, or NULL */
	struct ic_vec config_keys;        /* texts; what the description asks for */
	struct ic_vec env_names;          /* texts */
	struct ic_target_config config;
	json_t *env; /* an object */
};

/* The names that conditions look values up in. */
#define IC_TARGET_CONFIG "config"

/* target_parse.c: reads and validates a description.  Errors: IO, SYNTAX, CONFIG, UNSUPPORTED, LIMIT, NOMEM, with the place. */
int ic_target_parse(struct imgcheck_target *t, const char *path, struct imgcheck_error **err) IC_MUST_CHECK;

/* An error of the description at a node: code. */
int ic_target_fault(const struct imgcheck_target *t, const struct ic_node *at, enum imgcheck_err code,
                    struct imgcheck_error **err, const char *format, ...) IC_PRINTF(5, 6);

/* Adds a text to the list unless it is there. */
int ic_target_note(struct ic_vec *list, const char *text, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
