/* SPDX-License-Identifier: Apache-2.0 */
#include "release/operand.h"

#include "program/say.h"
#include "program/status.h"

int operand_open(struct operand *o, const char *command, const char *name)
{
	int status;

	*o = (struct operand){ .name = name, .path = name };
	if (unsquash_is_snap(name)) {
		status = unsquash(name, &o->unpacked);
		if (status)
			return status == STATUS_USAGE ? STATUS_UNREADABLE : status; /* 2 is diff's word for its own arguments */
		o->path = o->unpacked.dir;
		if (!input_is_snap(o->path))
			return say_usage(command, "%s: a snap without meta/imgcheck.yaml: unpack it and name its folders", name);
	}
	if (input_is_snap(o->path)) {
		o->target = o->path;
		o->path = NULL;
	}
	return 0;
}

void operand_set(const struct operand *o, struct input *in, struct lines *paths)
{
	in->target.dir = o->target;
	/* A configuration is for snaps: beside a folder there may be one for the other operand. */
	if (!o->target)
		in->snap_config = NULL;
	if (o->path)
		lines_add(paths, o->path);
}

void operand_close(struct operand *o)
{
	unsquash_remove(&o->unpacked);
	*o = (struct operand){ 0 };
}
