/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IC_TESTS_UNIT_TREE_H
#define IC_TESTS_UNIT_TREE_H

/*
 * Small trees of files as a table's field holds them: "NAME := TEXT" joined by " ;; ", with \n in texts; TEXT "@NAME" is a file
 * of tests/data/mirrors; a name that ends in a slash is a folder; %D stands for the folder itself.
 */

#include <stdbool.h>

/* Makes the folder, a template of mkdtemp(), and the files in it. */
void tree_make(char *folder, const char *files);
void tree_remove(const char *folder);

/* The same outside of a test, where nothing can fail: whether it is gone. */
bool tree_try_remove(const char *folder);

#endif
