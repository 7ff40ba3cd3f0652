/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_LINT_CPPCHECK_H
#define TESTS_LINT_CPPCHECK_H

/* What cppcheck must know of jansson, whose headers it does not read: which of its names are loops. */

#define json_array_foreach(array, i, value) \
	for (i = 0; i < json_array_size(array) && (value = json_array_get(array, i)) != NULL; i++)

#define json_object_foreach(object, key, value) \
	for (key = first_key(object); key && (value = json_object_get(object, key)) != NULL; key = next_key(object, key))

#endif
