/* SPDX-License-Identifier: Apache-2.0 */
#include "hook.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "program/files.h"
#include "program/memory.h"
#include "program/process.h"
#include "program/say.h"
#include "settings.h"
#include "snapctl.h"
#include "program/status.h"

#define BLOBS "/var/lib/snapd/snaps"
#define ENVIRONMENT "/etc/environment"
#define CONFIGURED "configured-revision"
#define LOCK_MS 5000

/* Of what configure shows. */
#define MOST_FAULTS 20
#define MOST_FAULT 350 /* bytes */

static int take_variable(const char *name, const char **out)
{
	*out = getenv(name);
	if (*out && **out)
		return 0;
	say("cannot run as a hook: %s is not set (snapd sets it; try `snap run --shell`)", name);
	return STATUS_USAGE;
}

int hook_init(struct hook *h)
{
	char *slash;

	h->began = process_clock();
	if (take_variable("SNAP", &h->snap) || take_variable("SNAP_NAME", &h->name) ||
	    take_variable("SNAP_REVISION", &h->revision) || take_variable("SNAP_COMMON", &h->common))
		return STATUS_USAGE;
	h->instance = getenv("SNAP_INSTANCE_NAME");
	if (!h->instance || !*h->instance)
		h->instance = h->name;
	h->blobs = h->blobs ? h->blobs : BLOBS;
	h->environment = h->environment ? h->environment : ENVIRONMENT;
	/* Not built from the name: a parallel instance is mounted under another one. */
	h->root = memory_text(h->snap);
	slash = strrchr(h->root, '/');
	if (slash && slash != h->root)
		*slash = '\0';
	h->state = files_join(h->common, "imgcheck");
	if (mkdir(h->state, 0755) && errno != EEXIST)
		say("cannot make %s: %s", h->state, strerror(errno));
	return 0;
}

int hook_lock(const struct hook *h)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	const int64_t until = process_clock() + LOCK_MS;
	int fd = open(h->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK && process_clock() < until)
		nanosleep(&pause, NULL);
	return fd;
}

void hook_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

struct revisions_place hook_place(const struct hook *h)
{
	return (struct revisions_place){ .root = h->root, .blobs = h->blobs, .name = h->name, .instance = h->instance,
					 .current = h->revision, .state = h->state };
}

/* Never fails: without the record the next refresh is found in another way. */
int hook_record(const struct hook *h)
{
	struct revisions_place place = hook_place(h);
	int fault = revisions_record(&place);

	if (fault)
		say("cannot record the revisions of %s: %s", h->root, strerror(fault));
	return STATUS_OK;
}

/*
 * Whether this is the first run of configure in this revision: then it belongs to an installation or a
 * refresh, which a setting of old must not break; later ones are `snap set`.
 */
static bool is_new_revision(const struct hook *h)
{
	AUTO(free) char *path = files_join(h->state, CONFIGURED), *before = NULL;
	size_t len;
	bool same = !files_read(path, REVISIONS_MOST_NAME, &before, &len) && !strcmp(before, h->revision);
	int fault = same ? 0 : files_replace(h->state, CONFIGURED, 0644, h->revision, strlen(h->revision));

	if (fault)
		say("cannot write %s: %s", path, strerror(fault));
	return !same;
}

/* Everything that is wrong with the settings. */
static void find_faults(const struct hook *h, json_t *configuration, struct lines *faults)
{
	AUTO(settings) struct settings settings = { 0 };
	AUTO(config) struct imgcheck_config *config = NULL;
	AUTO(proxies) struct proxies proxies = { 0 };

	if (imgcheck_config_new(&config))
		memory_must(NULL);
	settings_read(&settings, configuration, faults);
	settings_apply(&settings, h->common, config, faults);
	settings_proxies(&settings, &proxies);
	proxies_apply(&proxies, config, faults);
}

int hook_configure(const struct hook *h)
{
	AUTO(lines) struct lines keys = { 0 }, faults = { 0 };
	AUTO(json) json_t *configuration = NULL;
	AUTO(free) char *why = NULL;

	lines_add(&keys, SETTINGS_TREE);
	if (!snapctl_get(&keys, INT64_MAX, &configuration, &why)) {
		say_printable(why, false);
		say("cannot read the snap's configuration: %s", why);
		return STATUS_OK; /* other settings are not ours to refuse */
	}
	find_faults(h, configuration, &faults);
	/* Values may be anything, and snapd shows no more than 100 lines. */
	for (size_t i = 0; i < faults.count && i < MOST_FAULTS; i++) {
		say_printable(faults.line[i], false);
		say("%.*s", MOST_FAULT, faults.line[i]);
	}
	if (faults.count > MOST_FAULTS)
		say("and %zu more", faults.count - MOST_FAULTS);
	return is_new_revision(h) || !faults.count ? STATUS_OK : STATUS_MISSING;
}

void hook_clear(struct hook *h)
{
	free(h->root);
	free(h->state);
}
