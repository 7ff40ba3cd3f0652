/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "program/document.h"
#include "program/files.h"
#include "program/memory.h"
#include "program/process.h"
#include "program/say.h"
#include "program/status.h"
#include "signals.h"
#include "state_file.h"

#define ID_BYTES 16
#define TELL_MS 3000 /* whoever waits for longer is told why */
#define DROPPED "events.dropped"

const char *state_condition_name(long long condition)
{
	static const char *const names[] = { "new", "present", "gone" };

	return condition >= 0 && condition < (long long)COUNT(names) ? names[condition] : NULL;
}

const char *state_phase_name(long long phase)
{
	static const char *const names[] = { "new", "validating", "served", "rejected", "held", "outdated" };

	return phase >= 0 && phase < (long long)COUNT(names) ? names[phase] : NULL;
}

/* ------------------------------------------------------------------ locks */

/* Beside the file, since the file itself is replaced at each change.  It stays there, empty. */
static int open_lock(const char *path, const char *suffix)
{
	AUTO(free) char *name = memory_printf("%s.%s", path, suffix);
	AUTO(free) char *dir = files_folder(path);
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		say("cannot use the lock %s: %s", name, strerror(errno));
	else
		files_give(fd, dir);
	return fd;
}

/* Whether the lock was got in time; not where the process is to end. */
static bool wait_for_lock(int fd, int wait_ms)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	const int64_t until = process_clock() + wait_ms;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (process_clock() >= until || signals_end())
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

int state_lock_gates(const char *path)
{
	int fd = open_lock(path, "gates");

	if (fd < 0)
		return STATE_UNLOCKED;
	if (wait_for_lock(fd, 0))
		return fd;
	close(fd);
	return -1;
}

int state_lock_watcher(const char *path)
{
	int fd = open_lock(path, "watcher");

	if (fd < 0 || wait_for_lock(fd, 0))
		return fd;
	say("cannot watch with the state %s: another imgcheck watch does", path);
	close(fd);
	return -1;
}

/* ------------------------------------------------------------------ the file */

static char *new_id(void)
{
	unsigned char bytes[ID_BYTES];
	char text[2 * ID_BYTES + 1];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		memory_must(NULL);
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return memory_text(text);
}

/* What the programs rely on between the records.  NULL, or what is wrong: new. */
static char *check_order(const struct state *s)
{
	for (size_t i = 1; i < s->image_count; i++)
		if (strcmp(s->images[i - 1].ref, s->images[i].ref) >= 0)
			return memory_text("'images' are not in order");
	for (size_t i = 0; i < s->event_count; i++)
		if (s->events[i].number > s->last_event || (i && s->events[i - 1].number >= s->events[i].number))
			return memory_text("'events' are not in order");
	for (size_t i = 0; i < s->sink_count; i++)
		if (s->sinks[i].told > s->last_event)
			return memory_text("'sinks' were told events that there are not");
	return NULL;
}

/* NULL, or what is wrong: new. */
static char *read_document(struct state *s, const char *text, size_t len)
{
	json_error_t where;
	AUTO(json) json_t *document = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
	json_int_t version = json_integer_value(json_object_get(document, "version"));
	char *fault;

	if (!document)
		return memory_printf("line %d: %s", where.line, where.text);
	if (version > STATE_VERSION)
		return memory_printf("it is of version %lld, and this imgcheck knows version %d: use a newer one", (long long)version,
				     STATE_VERSION);
	if (version != STATE_VERSION)
		return memory_text("it is not the state of a watch");
	fault = state_file_read(s, document);
	return fault ? fault : check_order(s);
}

static bool is_link(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

static int read_file(struct state *s)
{
	AUTO(free) char *text = NULL, *fault = NULL;
	size_t len;
	int number;

	if (is_link(s->path)) {
		say("cannot use the state %s: it is a symbolic link, which would be replaced; name the file itself", s->path);
		return STATUS_INTERNAL;
	}
	number = files_read(s->path, STATE_MOST_BYTES, &text, &len);
	if (number == ENOENT) {
		s->id = new_id();
		return 0;
	}
	if (number) {
		say("cannot read the state %s: %s", s->path, strerror(number));
		return STATUS_INTERNAL;
	}
	fault = read_document(s, text, len);
	if (!fault)
		return 0;
	say_printable(fault, false);
	say("cannot use the state %s: %s", s->path, fault);
	say("it is left as it is; move it away to begin anew, which forgets what was seen and what is still to be told");
	return STATUS_INTERNAL;
}

int state_look(struct state *s, const char *path)
{
	int status;

	*s = (struct state){ .path = memory_text(path), .lock = -1 };
	status = read_file(s);
	if (status)
		state_close(s);
	return status;
}

static bool wait_for_state(int fd, const char *path, int wait_ms)
{
	if (wait_for_lock(fd, wait_ms < TELL_MS ? wait_ms : TELL_MS))
		return true;
	if (wait_ms <= TELL_MS)
		return false;
	say("waiting for another imgcheck, which is at work on the state %s", path);
	return wait_for_lock(fd, wait_ms - TELL_MS);
}

int state_open(struct state *s, const char *path, int wait_ms)
{
	int status = STATUS_INTERNAL, fd = open_lock(path, "lock");

	*s = (struct state){ .lock = -1 };
	if (fd < 0)
		return STATUS_INTERNAL;
	if (wait_for_state(fd, path, wait_ms)) {
		status = state_look(s, path);
	} else {
		say("cannot use the state %s: another imgcheck is at work on it", path);
		status = STATUS_UNDECIDED;
	}
	if (status)
		close(fd);
	else
		s->lock = fd;
	return status;
}

int state_save(const struct state *s)
{
	AUTO(json) json_t *document = state_file_write(s);
	AUTO(free) char *text = document_render(document);
	AUTO(free) char *dir = files_folder(s->path);
	const char *slash = strrchr(s->path, '/');
	size_t len = strlen(text);
	/* What is too long to be read again must not take the place of what can be read. */
	int fault = len > STATE_MOST_BYTES ? EFBIG : files_replace(dir, slash ? slash + 1 : s->path, 0600, text, len);

	if (!fault)
		return 0;
	say("cannot write the state %s: %s", s->path, strerror(fault));
	return STATUS_INTERNAL;
}

void state_close(struct state *s)
{
	state_file_clear(s);
	free(s->path);
	if (s->path && s->lock >= 0)
		close(s->lock);
	*s = (struct state){ .lock = -1 };
}

/* ------------------------------------------------------------------ records */

void state_set_text(char **to, const char *text)
{
	char *copy = text ? memory_text_cut(text, strnlen(text, STATE_MOST_TEXT)) : NULL;

	if (copy)
		say_printable(copy, false);
	free(*to);
	*to = copy;
}

/* Where the reference is among the images, or belongs. */
static size_t image_place(const struct state *s, const char *ref)
{
	size_t low = 0, high = s->image_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(s->images[middle].ref, ref) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct state_image *state_find_image(const struct state *s, const char *ref)
{
	size_t place = image_place(s, ref);

	return place < s->image_count && !strcmp(s->images[place].ref, ref) ? &s->images[place] : NULL;
}

struct state_image *state_image(struct state *s, const char *ref)
{
	size_t place = image_place(s, ref);

	if (place < s->image_count && !strcmp(s->images[place].ref, ref))
		return &s->images[place];
	if (s->image_count == STATE_MOST_IMAGES)
		return NULL;
	s->images = memory_grow(s->images, s->image_count + 1, sizeof(*s->images));
	memmove(&s->images[place + 1], &s->images[place], (s->image_count - place) * sizeof(*s->images));
	s->images[place] = (struct state_image){ .ref = memory_text(ref) };
	s->image_count++;
	return &s->images[place];
}

static void clear_image(struct state_image *m)
{
	free(m->ref);
	free(m->digest);
	free(m->host);
	free(m->reason);
}

void state_forget_images(struct state *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->image_count; i++) {
		if (s->images[i].used)
			s->images[kept++] = s->images[i];
		else
			clear_image(&s->images[i]);
	}
	s->image_count = kept;
}

struct state_gate *state_find_gate(const struct state *s, const char *name)
{
	for (size_t i = 0; i < s->gate_count; i++)
		if (!strcmp(s->gates[i].name, name))
			return &s->gates[i];
	return NULL;
}

struct state_gate *state_gate(struct state *s, const char *name)
{
	struct state_gate *g = state_find_gate(s, name);

	if (g || s->gate_count == STATE_MOST_GATES)
		return g;
	s->gates = memory_grow(s->gates, s->gate_count + 1, sizeof(*s->gates));
	g = &s->gates[s->gate_count++];
	*g = (struct state_gate){ .name = memory_text(name) };
	return g;
}

const struct state_rejected *state_rejected(const struct state_gate *g, const char *digest)
{
	for (size_t i = 0; i < g->rejected_count; i++)
		if (!strcmp(g->rejected[i].digest, digest))
			return &g->rejected[i];
	return NULL;
}

static void forget_rejected(struct state_gate *g, size_t i)
{
	free(g->rejected[i].digest);
	free(g->rejected[i].reason);
	memmove(&g->rejected[i], &g->rejected[i + 1], (--g->rejected_count - i) * sizeof(*g->rejected));
}

void state_reject(struct state_gate *g, long long now, const char *digest, const char *reason)
{
	const struct state_rejected *known = state_rejected(g, digest);
	struct state_rejected *r;

	if (known)
		forget_rejected(g, (size_t)(known - g->rejected));
	else if (g->rejected_count == STATE_MOST_REJECTED)
		forget_rejected(g, 0);
	g->rejected = memory_grow(g->rejected, g->rejected_count + 1, sizeof(*g->rejected));
	r = &g->rejected[g->rejected_count++];
	*r = (struct state_rejected){ .digest = memory_text(digest), .time = now };
	state_set_text(&r->reason, reason);
}

void state_forgive(struct state_gate *g, const char *digest)
{
	const struct state_rejected *known = digest ? state_rejected(g, digest) : NULL;

	if (known)
		forget_rejected(g, (size_t)(known - g->rejected));
}

struct state_sink *state_sink(struct state *s, const char *name)
{
	struct state_sink *sink;

	for (size_t i = 0; i < s->sink_count; i++)
		if (!strcmp(s->sinks[i].name, name))
			return &s->sinks[i];
	if (s->sink_count == STATE_MOST_SINKS)
		return NULL;
	s->sinks = memory_grow(s->sinks, s->sink_count + 1, sizeof(*s->sinks));
	sink = &s->sinks[s->sink_count++];
	*sink = (struct state_sink){ .name = memory_text(name) };
	return sink;
}

void state_forget_sink(struct state *s, const struct state_sink *sink)
{
	size_t i = (size_t)(sink - s->sinks);

	free(s->sinks[i].name);
	free(s->sinks[i].reason);
	memmove(&s->sinks[i], &s->sinks[i + 1], (--s->sink_count - i) * sizeof(*s->sinks));
}

/* ------------------------------------------------------------------ hosts */

const struct state_host *state_find_host(const struct state *s, const char *name)
{
	for (size_t i = 0; i < s->host_count; i++)
		if (!strcmp(s->hosts[i].name, name))
			return &s->hosts[i];
	return NULL;
}

void state_hold_host(struct state *s, const char *name, long long until, const char *reason)
{
	const struct state_host *known = state_find_host(s, name);
	struct state_host *h = known ? &s->hosts[known - s->hosts] : NULL;

	if (!h && s->host_count == STATE_MOST_HOSTS)
		return;
	if (!h) {
		s->hosts = memory_grow(s->hosts, s->host_count + 1, sizeof(*s->hosts));
		h = &s->hosts[s->host_count++];
		*h = (struct state_host){ .name = memory_text(name) };
	}
	h->until = until;
	h->round = s->rounds;
	state_set_text(&h->reason, reason);
}

void state_forget_hosts(struct state *s, long long now)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->host_count; i++) {
		if (s->hosts[i].until > now && s->hosts[i].until - now <= STATE_MOST_REST) {
			s->hosts[kept++] = s->hosts[i];
			continue;
		}
		free(s->hosts[i].name);
		free(s->hosts[i].reason);
	}
	s->host_count = kept;
}

/* ------------------------------------------------------------------ events */

static void clear_event(struct state_event *e)
{
	free(e->type);
	free(e->subject);
	json_decref(e->data);
}

static void forget_event(struct state *s, size_t i)
{
	clear_event(&s->events[i]);
	memmove(&s->events[i], &s->events[i + 1], (--s->event_count - i) * sizeof(*s->events));
}

/* Makes room for one: the event in front is, or becomes, the one that tells of those dropped, and takes the next one in. */
static void drop_oldest(struct state *s)
{
	struct state_event *first = &s->events[0];
	bool tells = !strcmp(first->type, DROPPED);
	long long dropped = 1 + (tells ? json_integer_value(json_object_get(first->data, "count")) : 1);

	first->number = s->events[1].number;
	first->time = s->events[1].time;
	forget_event(s, 1);
	if (!tells) {
		free(first->type);
		first->type = memory_text(DROPPED);
		state_set_text(&first->subject, "outbox");
		json_decref(first->data);
		first->data = document_object();
	}
	document_set_number(first->data, "count", dropped);
	document_set_text(first->data, "reason", "more events than could be told: the oldest were dropped");
}

void state_add_event(struct state *s, long long now, const char *type, const char *subject, json_t *data)
{
	AUTO(json) json_t *object = data ? data : document_object();
	AUTO(free) char *text = memory_must(json_dumps(object, JSON_COMPACT));
	struct state_event *e;

	if (s->event_count == STATE_MOST_EVENTS)
		drop_oldest(s);
	s->events = memory_grow(s->events, s->event_count + 1, sizeof(*s->events));
	e = &s->events[s->event_count++];
	*e = (struct state_event){ .number = ++s->last_event, .time = now, .type = memory_text(type) };
	state_set_text(&e->subject, subject);
	e->data = TAKE(object);
	if (strlen(text) <= STATE_MOST_DATA)
		return;
	json_object_clear(e->data);
	document_set_text(e->data, "reason", "what there is to tell of it is too long");
}

void state_forget_events(struct state *s, long long number)
{
	size_t gone = 0;

	while (gone < s->event_count && s->events[gone].number <= number)
		clear_event(&s->events[gone++]);
	s->event_count -= gone;
	if (gone)
		memmove(s->events, s->events + gone, s->event_count * sizeof(*s->events));
}
