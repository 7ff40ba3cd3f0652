/* SPDX-License-Identifier: Apache-2.0 */

/*
 * loop [--OPTION VALUE...] PATH...: a check in a loop of the program's own, which never blocks in it.
 *
 * The loop waits for the run's one descriptor beside those of the program, here its standard input: a line there
 * cancels the check.  It tells how far the check is.  Exit status 0 all can be pulled, 1 not, 2 not done.
 */
#include <imgcheck.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_event(void *arg, const struct imgcheck_event *event)
{
	if (event->kind == IMGCHECK_EVENT_DONE)
		(void)fprintf(arg, "%zu of %zu\n", event->done, event->total);
}

/* Sets --NAME from the library's table of options. */
static int set_option(struct imgcheck_config *config, const char *flag, const char *value, struct imgcheck_error **err)
{
	const char *name;

	for (int o = 0; imgcheck_option_info((enum imgcheck_option)o, &name, NULL, NULL); o++)
		if (strcmp(flag + strlen("--"), name) == 0)
			return imgcheck_config_set(config, (enum imgcheck_option)o, value, err);
	return IMGCHECK_ERR_ARGUMENT;
}

static int read_arguments(char **argv, struct imgcheck_config *config, struct imgcheck_images *images, struct imgcheck_error **err)
{
	int result = 0;

	for (size_t i = 1; result == 0 && argv[i]; i++) {
		if (strncmp(argv[i], "--", 2) != 0)
			result = imgcheck_images_add_path(images, argv[i], err);
		else if (argv[i + 1]) {
			result = set_option(config, argv[i], argv[i + 1], err);
			i++;
		} else
			result = IMGCHECK_ERR_ARGUMENT;
	}
	return result;
}

/* The program's own business: input cancels, the end of input only ends the looking. */
static void on_input(struct imgcheck_run *run, struct pollfd *input)
{
	char line[80];

	if (read(input->fd, line, sizeof(line)) > 0)
		imgcheck_run_cancel(run);
	else
		input->fd = -1;
}

/* First a step, which says whether there is anything left to wait for; then the wait. */
static int go_on(struct imgcheck_run *run, struct imgcheck_error **err)
{
	struct pollfd wait[] = {{.fd = imgcheck_run_fd(run), .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
	int more;

	while ((more = imgcheck_run_step(run, 0, err)) > 0) {
		(void)poll(wait, 2, -1);
		if (wait[1].revents)
			on_input(run, &wait[1]);
	}
	return more;
}

static int check(struct imgcheck_config *config, struct imgcheck_images *images, struct imgcheck_report **report,
                 struct imgcheck_error **err)
{
	struct imgcheck_run *run = NULL;
	int result;

	imgcheck_config_set_event_fn(config, on_event, stdout);
	result = imgcheck_run_new(config, images, &run, err);
	if (result == 0)
		result = go_on(run, err);
	if (result == 0)
		result = imgcheck_run_take_report(run, report, err);
	imgcheck_run_free(run);
	return result;
}

int main(int argc, char **argv)
{
	struct imgcheck_config *config = NULL;
	struct imgcheck_images *images = NULL;
	struct imgcheck_report *report = NULL;
	struct imgcheck_error *err = NULL;
	int status = 2;

	if (argc > 1 && imgcheck_config_new(&config) == 0 && imgcheck_images_new(&images) == 0 &&
	    read_arguments(argv, config, images, &err) == 0 && check(config, images, &report, &err) == 0) {
		status = imgcheck_report_decision(report) == IMGCHECK_DECISION_VETO ? 1 : 0;
		(void)printf("decision: %s\n", imgcheck_decision_name(imgcheck_report_decision(report)));
	} else {
		(void)fprintf(stderr, "loop: %s\n", err ? imgcheck_error_message(err) : "usage: loop [--OPTION VALUE...] PATH...");
	}
	imgcheck_error_free(err);
	imgcheck_report_free(report);
	imgcheck_images_free(images);
	imgcheck_config_free(config);
	return status;
}
