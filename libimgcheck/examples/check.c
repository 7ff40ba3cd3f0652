/* SPDX-License-Identifier: Apache-2.0 */

/* check PATH: can every image that these manifests need be pulled?  Exit status 0 yes, 1 no, 2 not done. */
#include <imgcheck.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct imgcheck_config *config = NULL;
	struct imgcheck_images *images = NULL;
	struct imgcheck_report *report = NULL;
	struct imgcheck_error *err = NULL;
	char *text = NULL;
	bool done = argc == 2 && imgcheck_config_new(&config) == 0 && imgcheck_images_new(&images) == 0 &&
	            imgcheck_images_add_path(images, argv[1], &err) == 0 && imgcheck_check(config, images, &report, &err) == 0 &&
	            imgcheck_report_render(report, IMGCHECK_FORMAT_TEXT, &text, NULL, &err) == 0;
	int status = !done ? 2 : imgcheck_report_decision(report) == IMGCHECK_DECISION_VETO ? 1 : 0;

	if (done)
		(void)fputs(text, stdout);
	else
		(void)fprintf(stderr, "check: %s\n", err ? imgcheck_error_message(err) : "usage: check PATH");
	free(text);
	imgcheck_error_free(err);
	imgcheck_report_free(report);
	imgcheck_images_free(images);
	imgcheck_config_free(config);
	return status;
}
