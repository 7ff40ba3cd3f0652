/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command and writes what it cost as one JSON line: seconds on the wall, seconds of CPU and peak memory.
 *
 * usage: measure FILE COMMAND...
 *
 * A small program of its own, since the peak memory of a child is at least that of the process that forked it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct rusage used;
	double began = now();
	FILE *out = argc > 2 ? fopen(argv[1], "we") : NULL;
	int status;
	pid_t child;

	if (!out) {
		fprintf(stderr, "usage: measure FILE COMMAND...\n");
		return 2;
	}
	child = fork();
	if (child == 0) {
		(void)execvp(argv[2], argv + 2);
		fprintf(stderr, "measure: cannot run %s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &used) != child)
		return 1;
	fprintf(out, "{\"wall\": %.6f, \"cpu\": %.6f, \"rss_kib\": %ld, \"status\": %d}\n", now() - began,
	        seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 255);
	return fclose(out) == 0 ? 0 : 1;
}
