/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static int read_path(const char *path, size_t max, struct imgcheck_error **err)
{
	struct ic_buf out IC_AUTO(buf);

	ic_buf_init(&out, max);
	return ic_file_read(path, &out, err);
}

TEST(file, reads_regular_files_only)
{
	char folder[] = "/tmp/imgcheck-test-XXXXXX", path[64], fifo[64];
	struct imgcheck_error *err = NULL;
	FILE *f;

	test_folder(folder);
	(void)snprintf(path, sizeof(path), "%s/file", folder);
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	f = fopen(path, "w");
	cr_assert(f && fputs("hello", f) >= 0 && fclose(f) == 0);
	cr_assert_eq(mkfifo(fifo, 0600), 0);
	cr_expect_eq(read_path(path, 5, NULL), 0);
	cr_expect_eq(read_path(path, 4, NULL), IMGCHECK_ERR_LIMIT);
	cr_expect_eq(read_path(folder, 100, NULL), IMGCHECK_ERR_IO);
	cr_expect_eq(read_path(fifo, 100, NULL), IMGCHECK_ERR_IO);
	cr_expect_eq(read_path("/dev/zero", 100, NULL), IMGCHECK_ERR_IO);
	(void)unlink(path);
	cr_expect_eq(read_path(path, 100, &err), IMGCHECK_ERR_IO);
	cr_expect_str_eq(imgcheck_error_place(err, NULL, NULL), path);
	cr_expect_str_eq(imgcheck_error_message(err), "cannot read: No such file or directory");
	imgcheck_error_free(err);
	(void)unlink(fifo);
	(void)rmdir(folder);
}
