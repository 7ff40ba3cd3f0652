/* SPDX-License-Identifier: Apache-2.0 */

/*
 * threads HTTP-HOST HTTPS-HOST CA-FILE: checks in several threads at once, cancelled from elsewhere, disturbed by signals
 * and after a fork, over the public interface.  Both hosts serve registry.fault.  The last line is "N passed, N failed".
 */

#include <errno.h>
#include <imgcheck.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 8
#define ROUNDS 6
#define TEXT_BYTES 256
#define SECONDS 60 /* deadline of a run; a cancelled one ends long before */

static struct {
	const char *plain, *tls, *ca;
} given;

/* ------------------------------------------------------------------ one check */

struct check {
	struct imgcheck_config *config;
	struct imgcheck_images *images;
	struct imgcheck_run *run;
};

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	(void)fprintf(stderr, "threads: cannot %s\n", what);
	abort();
}

static void add(struct check *c, const char *host, const char *image)
{
	char text[TEXT_BYTES];

	(void)snprintf(text, sizeof(text), "%s/%s", host, image);
	must(imgcheck_images_add_ref(c->images, text, NULL) == 0, "add a reference");
}

static void set(struct check *c, enum imgcheck_option o, const char *value)
{
	must(imgcheck_config_set(c->config, o, value, NULL) == 0, "set an option");
}

/* Of both hosts one image that is there and one that is not. */
static void make(struct check *c)
{
	char deadline[TEXT_BYTES];

	must(imgcheck_config_new(&c->config) == 0 && imgcheck_images_new(&c->images) == 0, "make a config and images");
	(void)snprintf(deadline, sizeof(deadline), "%d", SECONDS);
	set(c, IMGCHECK_OPTION_DEADLINE, deadline);
	set(c, IMGCHECK_OPTION_PLATFORM, "linux/amd64");
	set(c, IMGCHECK_OPTION_PLAIN_HTTP, given.plain);
	must(imgcheck_config_read(c->config, IMGCHECK_FILE_CA, given.ca, NULL) == 0, "read the certificates");
	add(c, given.plain, "there/image:1");
	add(c, given.plain, "none/image:1");
	add(c, given.tls, "there/image:1");
	add(c, given.tls, "none/image:1");
}

static void end(struct check *c)
{
	imgcheck_run_free(c->run);
	imgcheck_images_free(c->images);
	imgcheck_config_free(c->config);
}

/* Whether the first part of each image's name is what became of it. */
static bool is_right(const struct imgcheck_report *p)
{
	bool right = imgcheck_report_count(p) >= 4;

	for (size_t i = 0; i < imgcheck_report_count(p); i++) {
		const char *name = strchr(imgcheck_report_text(p, i, IMGCHECK_TEXT_REFERENCE), '/');
		enum imgcheck_verdict verdict = imgcheck_report_verdict(p, i);

		if (strncmp(name, "/there", 6) == 0)
			right = right && verdict == IMGCHECK_VERDICT_OK;
		else if (strncmp(name, "/none", 5) == 0)
			right = right && verdict == IMGCHECK_VERDICT_NOT_FOUND;
		else
			right = right && verdict == IMGCHECK_VERDICT_DEADLINE;
	}
	return right;
}

static bool check_once(void)
{
	struct check c = {NULL, NULL, NULL};
	struct imgcheck_report *report = NULL;
	struct imgcheck_error *err = NULL;
	bool right;

	make(&c);
	if (imgcheck_check(c.config, c.images, &report, &err) < 0)
		(void)fprintf(stderr, "threads: %s\n", imgcheck_error_message(err));
	right = report && is_right(report);
	imgcheck_error_free(err);
	imgcheck_report_free(report);
	end(&c);
	return right;
}

/* ------------------------------------------------------------------ several at once */

static void *check_rounds(void *right)
{
	for (int i = 0; i < ROUNDS; i++)
		*(bool *)right = check_once() && *(bool *)right;
	return NULL;
}

static bool in_threads(size_t count)
{
	pthread_t threads[MOST_THREADS];
	bool right[MOST_THREADS], all = true;

	for (size_t i = 0; i < count; i++) {
		right[i] = true;
		must(pthread_create(&threads[i], NULL, check_rounds, &right[i]) == 0, "start a thread");
	}
	for (size_t i = 0; i < count; i++) {
		must(pthread_join(threads[i], NULL) == 0, "join a thread");
		all = all && right[i];
	}
	return all;
}

static bool in_two_threads(void)
{
	return in_threads(2);
}

static bool in_eight_threads(void)
{
	return in_threads(MOST_THREADS);
}

/* ------------------------------------------------------------------ cancelled */

static struct imgcheck_run *_Atomic running;

/* Steps to the end; whether all was decided but what stalls, and long before the deadline. */
static bool finish(struct check *c)
{
	struct timespec began, ended;
	struct imgcheck_report *report;
	bool right;
	int more;

	clock_gettime(CLOCK_MONOTONIC, &began);
	do
		more = imgcheck_run_step(c->run, -1, NULL);
	while (more > 0);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	must(imgcheck_run_take_report(c->run, &report, NULL) == 0, "take a report");
	right = more == 0 && is_right(report) && ended.tv_sec - began.tv_sec < SECONDS / 2;
	imgcheck_report_free(report);
	return right;
}

/* When all else is decided, the run is told to end, by whatever `arg` does. */
static void on_event(void *arg, const struct imgcheck_event *event)
{
	void (*const *cancel)(void) = arg;

	if (event->kind == IMGCHECK_EVENT_DONE && event->done == event->total - 1)
		(*cancel)();
}

/* canceller: a thread that uses the run and ends before it is freed, or NULL. */
static bool cancelled_by(void (*cancel)(void), const pthread_t *canceller)
{
	struct check c = {NULL, NULL, NULL};
	bool right;

	make(&c);
	add(&c, given.plain, "stalls/image:1");
	imgcheck_config_set_event_fn(c.config, on_event, &cancel);
	must(imgcheck_run_new(c.config, c.images, &c.run, NULL) == 0, "make a run");
	running = c.run;
	right = finish(&c);
	must(!canceller || pthread_join(*canceller, NULL) == 0, "join a thread");
	end(&c);
	return right;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool wanted;

static void *cancel_when_wanted(void *nothing)
{
	(void)nothing;
	(void)pthread_mutex_lock(&lock);
	while (!wanted)
		(void)pthread_cond_wait(&changed, &lock);
	(void)pthread_mutex_unlock(&lock);
	imgcheck_run_cancel(running);
	return NULL;
}

static void want(void)
{
	(void)pthread_mutex_lock(&lock);
	wanted = true;
	(void)pthread_cond_signal(&changed);
	(void)pthread_mutex_unlock(&lock);
}

static bool from_a_thread(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, cancel_when_wanted, NULL) == 0, "start a thread");
	return cancelled_by(want, &thread);
}

static void on_alarm(int number)
{
	(void)number;
	imgcheck_run_cancel(running);
}

static void raise_soon(void)
{
	timer_t timer;
	struct itimerspec soon = {.it_value.tv_nsec = 20000000};

	must(timer_create(CLOCK_MONOTONIC, &(struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM}, &timer) == 0 &&
	     timer_settime(timer, 0, &soon, NULL) == 0, "set a timer");
}

static void handle(int number, void (*handler)(int number))
{
	must(sigaction(number, &(struct sigaction){.sa_handler = handler}, NULL) == 0, "handle a signal");
}

static bool from_a_signal_handler(void)
{
	handle(SIGALRM, on_alarm);
	return cancelled_by(raise_soon, NULL);
}

/* ------------------------------------------------------------------ signals */

static atomic_uint disturbances;
static atomic_bool enough;

static void on_disturbance(int number)
{
	(void)number;
	disturbances++;
}

static void *disturb(void *arg)
{
	const struct timespec pause = {.tv_nsec = 200000};

	while (!enough) {
		(void)pthread_kill(*(pthread_t *)arg, SIGUSR1);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

static bool among_signals(void)
{
	pthread_t self = pthread_self(), thread;
	bool right = true;

	handle(SIGUSR1, on_disturbance);
	must(pthread_create(&thread, NULL, disturb, &self) == 0, "start a thread");
	while (disturbances == 0)
		;
	(void)check_rounds(&right);
	enough = true;
	must(pthread_join(thread, NULL) == 0, "join a thread");
	return right && disturbances > ROUNDS;
}

/* ------------------------------------------------------------------ fork */

/* The child checks while its parent does; what it inherited of a run stays the parent's. */
static bool after_a_fork(void)
{
	struct check c = {NULL, NULL, NULL};
	int status = -1;
	bool right;
	pid_t pid;

	make(&c);
	must(imgcheck_run_new(c.config, c.images, &c.run, NULL) == 0, "make a run");
	must(imgcheck_run_step(c.run, 0, NULL) > 0, "begin a run");
	pid = fork();
	if (pid == 0)
		_exit(check_once() ? 0 : 1);
	must(pid > 0, "fork");
	right = finish(&c) && check_once();
	while (waitpid(pid, &status, 0) < 0)
		must(errno == EINTR, "wait for a child");
	end(&c);
	return right && status == 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		bool (*is_right)(void);
	} tests[] = {
		{"two threads", in_two_threads},
		{"eight threads", in_eight_threads},
		{"cancelled from a thread", from_a_thread},
		{"cancelled from a signal handler", from_a_signal_handler},
		{"among signals", among_signals},
		{"after a fork", after_a_fork},
	};
	size_t failed = 0, count = sizeof(tests) / sizeof(tests[0]);

	must(argc == 4, "be told two hosts and a file");
	given.plain = argv[1];
	given.tls = argv[2];
	given.ca = argv[3];
	for (size_t i = 0; i < count; i++) {
		bool right = tests[i].is_right();

		failed += !right;
		(void)printf("%s %s\n", right ? "ok  " : "FAIL", tests[i].name);
		(void)fflush(stdout);
	}
	(void)printf("%zu passed, %zu failed\n", count - failed, failed);
	return failed > 0;
}
