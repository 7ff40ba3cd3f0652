/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_SETTINGS_H
#define HOOKS_SETTINGS_H

/*
 * The operator's settings, `snap set NAME imgcheck.KEY=VALUE`, as imgcheck-settings(5) lists them.  snapd
 * stores what looks like a number or Boolean as such, so values are taken by their text.
 *
 * A setting that cannot be used is told in the notices and counts as not set.  Every default is the strict
 * one (a typo in `mode` means enforce, one in a file name means no credentials), so a slip makes a hook
 * neither weaker in silence nor the cause of a veto.
 */

#include "program/lines.h"
#include "program/proxies.h"

#define SETTINGS_TREE "imgcheck" /* the key under which they stand */
#define SETTINGS_DEADLINE 240
#define SETTINGS_MOST_DEADLINE 570 /* snapd ends a hook after 600 seconds */

enum settings_mode { SETTINGS_ENFORCE, SETTINGS_WARN, SETTINGS_OFF };

struct settings {
	json_t *tree; /* NULL: none set */
	enum settings_mode mode;
	char *accept_revision; /* NULL: not set */
	unsigned deadline;     /* seconds */
};

/* Reads the settings out of the snap's configuration (NULL: none); what is wrong goes to notices. */
void settings_read(struct settings *s, json_t *configuration, struct lines *notices);

/*
 * Puts the settings into the config, proxies excepted.  common is $SNAP_COMMON, below which `authfile`
 * stands, or NULL where there is none.
 */
void settings_apply(const struct settings *s, const char *common, struct imgcheck_config *c, struct lines *notices);

/*
 * What decides how an image is asked for, without a byte of a login, to tell one time from another: the settings, the proxies
 * wherever they come from, and of the files that settings name which they are and when they were changed.  New; NULL where a
 * setting or a proxy holds a login itself, since nothing may be kept that tells whether it is still the same.
 */
json_t *settings_ways(const struct settings *s, const char *common, const struct proxies *p);

/* The items of a setting that is a list: a JSON array, or a text with its items separated by commas or blanks. */
void settings_list(const struct settings *s, const char *key, struct lines *items);

/* Puts the proxies that are set in the place of those found elsewhere. */
void settings_proxies(const struct settings *s, struct proxies *p);

/* The effect of a class under these settings, where the library is not there to say it. */
enum imgcheck_decision settings_effect(const struct settings *s, enum imgcheck_outcome class);

/* Whether the operator has set it, and whether to veto. */
bool settings_has(const struct settings *s, const char *key);
bool settings_is_veto(const struct settings *s, const char *key);

const char *settings_mode_name(enum settings_mode mode);
void settings_clear(struct settings *s);

static inline void auto_settings(struct settings *s)
{
	settings_clear(s);
}

#endif
