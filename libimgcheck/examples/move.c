/* SPDX-License-Identifier: Apache-2.0 */

/*
 * move REFERENCE DIGEST EXPECTED [OPTION=VALUE]...: points a tag at a digest of its repository.  EXPECTED is the digest
 * that it is at, "-" for a tag that is not there yet; options are the library's, and auth=FILE and ca=FILE.  Exit status
 * 0 moved, 1 another writer was there, 2 not done.
 */
#include <imgcheck.h>
#include <stdio.h>
#include <string.h>

static int set(struct imgcheck_config *config, char *setting, struct imgcheck_error **err)
{
	char *value = strchr(setting, '=');
	const char *name;

	if (!value)
		return IMGCHECK_ERR_ARGUMENT;
	*value++ = '\0';
	if (strcmp(setting, "auth") == 0)
		return imgcheck_config_read(config, IMGCHECK_FILE_AUTH, value, err);
	if (strcmp(setting, "ca") == 0)
		return imgcheck_config_read(config, IMGCHECK_FILE_CA, value, err);
	for (enum imgcheck_option o = 0; imgcheck_option_info(o, &name, NULL, NULL); o++)
		if (strcmp(name, setting) == 0)
			return imgcheck_config_set(config, o, value, err);
	return IMGCHECK_ERR_ARGUMENT;
}

int main(int argc, char **argv)
{
	struct imgcheck_config *config = NULL;
	struct imgcheck_error *err = NULL;
	int result = argc < 4 ? IMGCHECK_ERR_ARGUMENT : imgcheck_config_new(&config);

	for (int i = 4; result == 0 && i < argc; i++)
		result = set(config, argv[i], &err);
	if (result == 0)
		result = imgcheck_tag_move(config, argv[1], argv[2], strcmp(argv[3], "-") == 0 ? NULL : argv[3], &err);
	if (result < 0)
		(void)fprintf(stderr, "move: %s\n", err ? imgcheck_error_message(err) : "cannot use these arguments");
	imgcheck_error_free(err);
	imgcheck_config_free(config);
	return result == 0 ? 0 : result == IMGCHECK_ERR_CONFLICT ? 1 : 2;
}
