/* SPDX-License-Identifier: Apache-2.0 */
#include "plug.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "program/memory.h"
#include "snapctl.h"

/* Without the plug, the confinement refuses even a socket. */
static bool is_shut_in(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
	return fd < 0 && (errno == EACCES || errno == EPERM);
}

static const char *variable(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

/*
 * Plugs are bound to each app and hook.  So that of the snap may be connected, and this hook not have it: then only
 * another revision helps.
 */
char *plug_explain(const char *hook, int64_t until)
{
	const char *who = hook ? "hook" : "app";
	const char *instance = variable("SNAP_INSTANCE_NAME", variable("SNAP_NAME", "NAME"));

	if (!is_shut_in())
		return NULL;
	switch (snapctl_plug("network", until)) {
	case SNAPCTL_PLUG_NOT_CONNECTED:
		return memory_printf("the %s has no network: its plug is not connected (snap connect %s:network)", who, instance);
	case SNAPCTL_PLUG_CONNECTED:
	case SNAPCTL_PLUG_NOT_THERE:
		return memory_printf("the %s has no network: its plug is missing in snap.yaml of revision %s (%s: plugs: [network])",
				     who, variable("SNAP_REVISION", "?"), hook ? hook : "apps");
	case SNAPCTL_PLUG_UNKNOWN:
		break;
	}
	return memory_printf("the %s has no network: its plug network is missing or not connected", who);
}
