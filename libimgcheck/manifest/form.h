/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_MANIFEST_FORM_H
#define IC_MANIFEST_FORM_H

/*
 * What one text in a manifest is, judged by its form and by how much the place says that it is an image.
 * Pure; called by the rules for every scalar.  Texts are hostile and may hold NULs.
 */

#include <stdbool.h>
#include <stddef.h>

enum ic_form {
	IC_FORM_OTHER,     /* no image */
	IC_FORM_REFERENCE,
	IC_FORM_UNRESOLVED /* would be a reference once a placeholder is filled in; in a container: anything else */
};

/* In a container's image field every text is meant as a reference, and a bare name is one. */
enum ic_form ic_form_in_container(const char *text, size_t len);

/* In a field or variable that says image: a reference with '/', ':' or '@' that is no file name. */
enum ic_form ic_form_named_image(const char *text, size_t len);

/* Anywhere else: a reference with a slash, and a tag or a digest, that is neither a port nor a file name. */
enum ic_form ic_form_elsewhere(const char *text, size_t len);

/* Whether the name of a field, variable or flag says that its value is an image, or several. */
bool ic_name_says_image(const char *name, size_t len);

/*
 * Whether a reference that stands alone begins with a host (a dot, a port or localhost before the first
 * slash), which in running text is the least that tells it from other words.
 */
bool ic_form_has_host(const char *text, size_t len);

/* Text without blanks at both ends. */
void ic_form_trim(const char **text, size_t *len);

/* Where the next piece of text begins that is parted from the others by bytes of `set`, or NULL; *len is its length. */
const char *ic_form_next_piece(const char **rest, size_t *left, const char *set, size_t *len);

/* What stands behind the first '=' of "key=value", or the whole text. */
void ic_form_strip_key(const char **text, size_t *len);

#endif
