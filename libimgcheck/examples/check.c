/* SPDX-License-Identifier: Apache-2.0 */

/* check PATH...: can every image that these manifests need be pulled?  Exit status 0 yes, 1 no, 2 not done. */
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
	int result = imgcheck_config_new(&config) < 0 || imgcheck_images_new(&images) < 0 ? IMGCHECK_ERR_NOMEM : 0;

	for (int i = 1; result == 0 && i < argc; i++)
		result = imgcheck_images_add_path(images, argv[i], &err);
	if (result == 0)
		result = imgcheck_check(config, images, &report, &err);
	if (result == 0)
		result = imgcheck_report_render(report, IMGCHECK_FORMAT_TEXT, &text, NULL, &err);
	if (result == 0)
		(void)fputs(text, stdout);
	else
		(void)fprintf(stderr, "check: %s\n", err ? imgcheck_error_message(err) : "cannot allocate memory");
	if (result == 0)
		result = imgcheck_report_decision(report) == IMGCHECK_DECISION_VETO ? 1 : 0;
	free(text);
	imgcheck_error_free(err);
	imgcheck_report_free(report);
	imgcheck_images_free(images);
	imgcheck_config_free(config);
	return result < 0 ? 2 : result;
}
