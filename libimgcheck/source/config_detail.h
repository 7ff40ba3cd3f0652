/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_SOURCE_CONFIG_DETAIL_H
#define IC_SOURCE_CONFIG_DETAIL_H

/* The inside of a configuration, for config.c, which sets and gives its values, and config_files.c, which reads files into it. */

#include "source/config.h"
#include "source/option.h"

struct imgcheck_config {
	struct ic_vec values[IC_OPTION_COUNT]; /* texts; at most one where the option is no list */
	struct ic_vec platforms;               /* struct ic_platform, as IMGCHECK_OPTION_PLATFORM */
	struct ic_platform host_platform;
	struct ic_vec logins;    /* struct ic_config_login */
	struct ic_vec authfiles; /* struct ic_authfile */
	struct ic_vec mirrors;   /* struct ic_mirror_set, in the order read */
	struct ic_vec certificates; /* struct ic_mirror_set, of folders with certificates for hosts, in the order read */
	struct ic_registries_conf registries_conf;
	bool has_registries_conf;
	struct ic_vec host_logins; /* struct ic_host_login */
	struct ic_vec problems;  /* struct imgcheck_error * */
	struct ic_vec unread[IC_RUNTIME_CRIO + 1]; /* the same, for each runtime: files that it does not read */
	struct ic_buf ca;        /* system's and own; empty where no own certificate was read */
	const char *ca_system;
	struct ic_helper_logins helper_logins;
	struct ic_helper_logins *helpers; /* the same where the program set a function; what it answers is kept in a run, too */
	imgcheck_event_fn event_fn;
	void *event_arg;
	bool no_mirrors;
	bool frozen;
};

/* Errors: ARGUMENT for NULL, and once a run holds the configuration. */
int ic_config_check_open(const struct imgcheck_config *c, struct imgcheck_error **err) IC_MUST_CHECK;

#endif
