# SPDX-License-Identifier: Apache-2.0
"""Programs outside the tree, built with nothing but what pkg-config says of an installed libimgcheck."""

import os
import pathlib
import re
import subprocess

from . import ROOT

# Plain C99 that is C++11 too: is the image of the argument there, and what does the registry call it?
PROGRAM = r"""
#include <imgcheck.h>
#include <stdio.h>
#include <string.h>

static void on_event(void *arg, const struct imgcheck_event *event)
{
	if (event->kind == IMGCHECK_EVENT_REQUEST)
		++*(int *)arg;
}

int main(int argc, char **argv)
{
	struct imgcheck_images *images = NULL;
	struct imgcheck_config *config = NULL;
	struct imgcheck_report *report = NULL;
	struct imgcheck_error *err = NULL;
	const char *digest;
	int asked = 0, failed;

	failed = argc != 2 || strcmp(imgcheck_version(), IMGCHECK_VERSION) != 0;
	failed = failed || imgcheck_images_new(&images) != 0 || imgcheck_config_new(&config) != 0;
	failed = failed || imgcheck_images_add_ref(images, argv[1], &err) != 0;
	if (!failed)
		imgcheck_config_set_event_fn(config, on_event, &asked);
	failed = failed || imgcheck_check(config, images, &report, &err) != 0;
	digest = failed ? NULL : imgcheck_report_text(report, 0, IMGCHECK_TEXT_DIGEST);
	if (failed)
		fprintf(stderr, "%s\n", imgcheck_error_message(err));
	else
		printf("%s %s %d\n", imgcheck_verdict_name(imgcheck_report_verdict(report, 0)), digest ? digest : "-", asked > 0);
	imgcheck_error_free(err);
	imgcheck_report_free(report);
	imgcheck_config_free(config);
	imgcheck_images_free(images);
	return failed;
}
"""

COMPILERS = {"c": ["gcc", "-std=c99"], "cc": ["g++", "-std=c++11"]}


class Outside:
    """An installation below root with its libraries in libdir, and a folder for programs that use it."""

    def __init__(self, root, libdir, folder):
        self.root, self.libraries, self.folder = pathlib.Path(root), pathlib.Path(f"{root}{libdir}"), pathlib.Path(folder)
        self.env = dict(os.environ, LD_LIBRARY_PATH=str(self.libraries))

    def pkg_config(self, *arguments):
        """Words that it prints; everything below root is found there, also in the folders where compilers look anyway."""
        env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=str(self.root), PKG_CONFIG_PATH=f"{self.libraries}/pkgconfig",
                   PKG_CONFIG_ALLOW_SYSTEM_LIBS="1", PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1")
        done = subprocess.run(["pkg-config", *arguments, "imgcheck"], env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        return done.stdout.split()

    def build(self, kind):
        """The program in that language, "c" or "cc"."""
        source, program = self.folder / f"outside.{kind}", self.folder / f"outside-{kind}"
        source.write_text(PROGRAM, encoding="utf-8")
        done = subprocess.run([*COMPILERS[kind], "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", program, source,
                               *self.pkg_config("--cflags", "--libs")], capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        return program

    def run(self, *command):
        return subprocess.run(list(map(str, command)), env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False)

    def page(self, name):
        """The text of the manual page of that name, found without a database, or ""."""
        shown = self.run("mman", "-M", self.root / "usr/share/man", name).stdout
        return re.sub(".\b", "", shown)  # bold and underlined letters are struck over


def functions():
    """Every call of the header."""
    header = re.sub(r"/\*.*?\*/", "", (ROOT / "libimgcheck" / "imgcheck.h").read_text(encoding="utf-8"), flags=re.S)
    return sorted(set(re.findall(r"\b(imgcheck_\w+)\(", header)))
