/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_NODE_FILES_H
#define HOOKS_NODE_FILES_H

/*
 * The files that a command line names to say how a node pulls: logins, certificates, and what its runtime is
 * configured with.  Shared by check, guard and explain.
 */

#include "program/options.h"

struct node_files {
	struct {
		enum imgcheck_file kind;
		char *path;
	} *given;
	size_t count;
};

extern const struct flag node_files_flags[];
int node_files_take(void *arg, int id, const char *value); /* arg: struct node_files */

/*
 * Reads them, in the order given, and the file of logins that REGISTRY_AUTH_FILE names where no other is given.
 * 0, or an exit status after saying why.
 */
int node_files_read(const struct node_files *f, struct imgcheck_config *c);

void node_files_clear(struct node_files *f);

#endif
