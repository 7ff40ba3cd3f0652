/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_WATCH_CONFIG_H
#define HOOKS_WATCH_CONFIG_H

/*
 * The configuration of watch and gate: a YAML file, imgcheck-watch(5).  What is not known in it is an error that
 * names file and line, since a key that is not understood may be what keeps an image from being served.  Names of
 * files in it count from its own folder, and its commands run there.
 */

#include "check/node_files.h"
#include "program/lines.h"
#include "program/options.h"

#define WATCH_MOST_GATES 1000
#define WATCH_GATE_SECONDS 600 /* what a command of a gate may take, unless the gate says otherwise */

struct watch_gate {
	char *name;
	char *candidate, *served, *backup; /* three tags of one repository */
	struct lines copy, validate;       /* programs with their arguments; copy may be empty */
	unsigned seconds;                  /* that either may take */
};

struct watch_config {
	char *path, *folder;
	struct lines paths;  /* manifests: from the folder of this process */
	struct lines refs;   /* further images */
	struct lines values; /* of templates: NAME=VALUE */
	struct watch_gate *gates;
	size_t gate_count;
	struct library_options options; /* how a node would ask */
	struct node_files files;
};

/* Reads it; what it names is not read yet.  0, or an exit status after saying why. */
int watch_config_read(const char *path, struct watch_config *c);

/*
 * How a node would ask, with proxies from the environment, at depth tag: new, or NULL after saying why.  The files
 * with logins and certificates are read now, so that each round takes what is in them then.
 */
struct imgcheck_config *watch_config_library(const struct watch_config *c);

/* The images that are watched, from the manifests as they are now: new, or NULL after saying why. */
struct imgcheck_images *watch_config_images(const struct watch_config *c);

/* The gate of this name, or NULL: borrowed. */
const struct watch_gate *watch_config_gate(const struct watch_config *c, const char *name);

void watch_config_clear(struct watch_config *c);

static inline void auto_watch_config(struct watch_config *c)
{
	watch_config_clear(c);
}

#endif
