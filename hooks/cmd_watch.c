/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "commands.h"
#include "program/files.h"
#include "program/memory.h"
#include "program/options.h"
#include "program/say.h"
#include "program/status.h"
#include "watch/watch.h"
#include "watch/webhook.h"

#define DEFAULT_INTERVAL 900
#define MOST_INTERVAL (7LL * 86400)
#define MOST_URL_BYTES ((size_t)8192)

enum { TAKE_CONFIG, TAKE_ONCE, TAKE_INTERVAL, TAKE_JITTER, TAKE_STATE, TAKE_COMMAND, TAKE_WEBHOOK, TAKE_SYSLOG, TAKE_METRICS,
       TAKE_HTML, TAKE_SHARD };

static const struct flag watch_flags[] = {
	{ "config", "FILE", "images and gates to watch: imgcheck-watch(5)", TAKE_CONFIG },
	{ "once", NULL, "one round, then end: for timers, and to look now", TAKE_ONCE },
	{ "interval", "TIME", "from one round to the next: 90s, 15m (default), 2h, 1d", TAKE_INTERVAL },
	{ "jitter", NULL, "begin each round up to a tenth of the interval later, at random", TAKE_JITTER },
	{ "state", "FILE", "what was seen and is to be told (CONFIG.state)", TAKE_STATE },
	{ "on-event", "COMMAND", "shell command for each event, which is JSON on its standard input", TAKE_COMMAND },
	{ "webhook", "URL|@FILE", "post each event (CloudEvents 1.0) there; a file keeps a secret URL off the command line",
	  TAKE_WEBHOOK },
	{ "syslog", NULL, "write each event to syslog", TAKE_SYSLOG },
	{ "metrics", "FILE", "write metrics there after each round, for a Prometheus textfile collector", TAKE_METRICS },
	{ "html", "FILE", "write a status page there after each round", TAKE_HTML },
	{ "shard", "I/N", "watch only the I-th part of N, from 0", TAKE_SHARD },
	{ 0 },
};

struct arguments {
	struct watch watch;
	char *webhook; /* as watch borrows it */
};

/* "90s", "15m", "2h", "1d", or seconds. */
static int take_interval(struct watch *w, const char *value)
{
	static const struct {
		const char *name;
		long long seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	char *end = NULL;
	long long number = strtoll(value, &end, 10);

	for (size_t i = 0; i < COUNT(units) && *value >= '0' && *value <= '9'; i++)
		if (!strcmp(end, units[i].name) && number >= 1 && number <= MOST_INTERVAL / units[i].seconds) {
			w->interval = number * units[i].seconds;
			return 0;
		}
	return say_usage("watch", "--interval %s: give a time of 1s to 7d", value);
}

/* A text without the blanks and newlines at its end. */
static void cut_end(char *text)
{
	text[strcspn(text, " \t\r\n")] = '\0';
}

/* The URL is not repeated where it is wrong: it can hold a secret. */
static int take_webhook(struct arguments *a, const char *value)
{
	AUTO(free) char *shown = NULL;
	size_t len;

	free(a->webhook);
	a->webhook = NULL;
	if (*value == '@') {
		int fault = files_read(value + 1, MOST_URL_BYTES, &a->webhook, &len);

		if (fault)
			return say_usage("watch", "--webhook: cannot read %s: %s", value + 1, strerror(fault));
		cut_end(a->webhook);
	} else {
		a->webhook = memory_text(value);
	}
	shown = webhook_shown(a->webhook);
	if (!shown)
		return say_usage("watch", "--webhook: give a URL of http or https");
	a->watch.deliver.webhook = a->webhook;
	return 0;
}

static int watch_take(void *arg, int id, const char *value)
{
	struct arguments *a = arg;
	struct watch *w = &a->watch;

	switch (id) {
	case TAKE_CONFIG:
		w->config_path = value;
		return 0;
	case TAKE_ONCE:
		w->once = true;
		return 0;
	case TAKE_INTERVAL:
		return take_interval(w, value);
	case TAKE_JITTER:
		w->jitter = true;
		return 0;
	case TAKE_STATE:
		free(w->state_path);
		w->state_path = memory_text(value);
		return 0;
	case TAKE_COMMAND:
		w->deliver.command = value;
		return 0;
	case TAKE_WEBHOOK:
		return take_webhook(a, value);
	case TAKE_SYSLOG:
		w->deliver.syslog = true;
		return 0;
	case TAKE_METRICS:
		w->metrics = value;
		return 0;
	case TAKE_HTML:
		w->page = value;
		return 0;
	default:
		return shard_parse(value, &w->shard) ? 0 : say_usage("watch", "--shard %s: give I/N, I from 0 to N-1", value);
	}
}

static int run(struct watch *w)
{
	int status;

	if (!w->config_path)
		return say_usage("watch", "what is to be watched? give --config FILE");
	status = watch_config_read(w->config_path, &w->config);
	if (status)
		return status;
	if (!w->state_path)
		w->state_path = memory_printf("%s.state", w->config_path);
	if (w->deliver.syslog)
		openlog("imgcheck", LOG_PID, LOG_DAEMON);
	return watch_run(w);
}

int cmd_watch(char *const *argv)
{
	struct arguments a = { .watch = { .interval = DEFAULT_INTERVAL, .deliver.print = true } };
	AUTO(lines) struct lines operands = { 0 };
	const struct flag_group groups[] = { { watch_flags, watch_take, &a } };
	const struct command_line line = {
		.command = "watch",
		.usage = "--config FILE [OPTION]...",
		.about = "Asks registries for the digests of images, one HEAD each a round, and tells what changed or vanished.",
		.notes = "Events are image.changed, gone, back, failing and recovered, and those of gates; each is told at least "
			 "once, also after a crash.  SIGHUP begins a round at once and reads the configuration again; so does another "
			 "imgcheck watch --once with the same state.  SIGTERM ends between two steps.\n"
			 "Exit status: 0 done, 2 usage or configuration, 4 an event could not be told yet or the state is in use, "
			 "5 a manifest cannot be read, 70 internal error, or a state that cannot be used.  See imgcheck-watch(8).",
		.groups = groups,
		.group_count = COUNT(groups),
	};
	int status = options_read(&line, argv, &operands, NULL);

	if (status == STATUS_GO)
		status = operands.count ? say_usage("watch", "cannot use %s: there are no operands", operands.line[0]) : run(&a.watch);
	watch_clear(&a.watch);
	free(a.webhook);
	return status;
}
