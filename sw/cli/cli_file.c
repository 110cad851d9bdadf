/* SPDX-License-Identifier: Apache-2.0 */
/* Checks, reads and writes the files that the command line names. */
#include "cli.h"

#include "base.h"
#include "input_file.h"
#include "output_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

cnnvp_result cli_check_output(const char *option, const char *file)
{
    struct stat status;
    if (file == NULL || cnnvp_output_is_special(file))
        return CNNVP_DONE;
    if (!*file)
        return cli_bad("%s: the name of a file is expected", option);
    if (stat(file, &status) == 0 && S_ISDIR(status.st_mode))
        return cli_bad("%s: %s is a folder", option, file);
    CNNVP_FREED char *folder = cnnvp_output_folder(file);
    if (folder == NULL || access(folder, W_OK | X_OK) != 0)
        return cli_bad("%s: %s cannot be written: %s", option, file, strerror(errno));
    return CNNVP_DONE;
}

/* 1: both paths have the same name in the same folder, even if they are spelled differently. */
static int is_same_place(const char *a, const char *b)
{
    CNNVP_FREED char *a_folder = cnnvp_output_folder(a);
    CNNVP_FREED char *b_folder = cnnvp_output_folder(b);
    struct stat a_status, b_status;
    return a_folder != NULL && b_folder != NULL && stat(a_folder, &a_status) == 0 && stat(b_folder, &b_status) == 0 &&
           a_status.st_dev == b_status.st_dev && a_status.st_ino == b_status.st_ino &&
           strcmp(cnnvp_base_name(a), cnnvp_base_name(b)) == 0;
}

/* 1: both are the same regular file or, if one does not exist, the same path. Links and devices may be named twice: the
 * order of writes is up to the user. */
static int is_same_file(const char *a, const char *b)
{
    struct stat a_status, b_status;
    if (lstat(a, &a_status) != 0 || lstat(b, &b_status) != 0)
        return is_same_place(a, b);
    return S_ISREG(a_status.st_mode) && a_status.st_dev == b_status.st_dev && a_status.st_ino == b_status.st_ino;
}

cnnvp_result cli_check_files(const struct cli_named_file *files, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (files[i].is_output && cli_check_output(files[i].option, files[i].file) != CNNVP_DONE)
            return CNNVP_BAD_INPUT;
    for (size_t i = 0; i < count; ++i)
        for (size_t j = 0; j < count; ++j) {
            const struct cli_named_file *output = &files[i], *other = &files[j];
            if (i == j || !output->is_output || output->file == NULL || other->file == NULL)
                continue;
            if (is_same_file(output->file, other->file))
                return cli_bad("%s: %s is also %s%s, which would be lost", output->option, output->file,
                               *other->option ? "the file of " : "an input", other->option);
        }
    return CNNVP_DONE;
}

cnnvp_result cli_write_file(const char *file, const void *data, size_t size)
{
    return cli_report(cnnvp_output_whole(file, data, size, &cli_error));
}

cnnvp_result cli_read_file(const char *file, size_t limit, char **data, size_t *size)
{
    return cli_report(cnnvp_input_text(file, limit, data, size, &cli_error));
}
