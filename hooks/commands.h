/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOKS_COMMANDS_H
#define HOOKS_COMMANDS_H

/* The commands.  Each gets the arguments after its name, ended by NULL, and returns the exit status. */

int cmd_images(char *const *argv);
int cmd_render(char *const *argv);
int cmd_check(char *const *argv);
int cmd_guard(char *const *argv);
int cmd_explain(char *const *argv);
int cmd_audit(char *const *argv);
int cmd_diff(char *const *argv);
int cmd_plan(char *const *argv);
int cmd_watch(char *const *argv);
int cmd_gate(char *const *argv);
int cmd_report(char *const *argv);
int cmd_hook(char *const *argv);

/* The hook of this name: called by it, or by `imgcheck hook NAME`. */
int (*cmd_find_hook(const char *name))(char *const *argv);

#endif
