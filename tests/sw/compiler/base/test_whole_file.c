/* SPDX-License-Identifier: Apache-2.0 */
/* Files appear under their names complete or not at all; devices, pipes and links are written through. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "whole_file.h"

static char folder[] = "/tmp/cnnvp_whole_XXXXXX";

static int enter(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static size_t files_here(void)
{
    size_t count = 0;
    DIR *here = opendir(".");
    assert_non_null(here);
    for (const struct dirent *entry = readdir(here); entry != NULL; entry = readdir(here))
        count += entry->d_name[0] != '.';
    (void)closedir(here);
    return count;
}

static void expect_text(const char *name, const char *wanted)
{
    char text[32] = "";
    FILE *stream = fopen(name, "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    (void)fclose(stream);
    assert_string_equal(text, wanted);
}

static cnnvp_result write_text(const char *name, const char *text, int complete, struct cnnvp_error *error)
{
    struct cnnvp_whole_file file;
    cnnvp_result result = cnnvp_whole_open(name, &file, error);
    if (result != CNNVP_DONE)
        return result;
    (void)fputs(text, file.stream);
    return cnnvp_whole_close(&file, complete, error);
}

static void a_complete_file_takes_the_place_of_the_old_one(void **state)
{
    (void)state;
    struct cnnvp_whole_file file;
    struct cnnvp_error error = {""};
    struct stat status;
    assert_int_equal(write_text("a", "old", 1, &error), CNNVP_DONE);
    const mode_t mask = umask(027);
    assert_int_equal(cnnvp_whole_open("a", &file, &error), CNNVP_DONE);
    (void)fputs("new", file.stream);
    (void)fflush(file.stream);
    expect_text("a", "old");
    assert_int_equal(cnnvp_whole_close(&file, 1, &error), CNNVP_DONE);
    (void)umask(mask);
    expect_text("a", "new");
    assert_int_equal(stat("a", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640); /* that of a file that is simply made */
    assert_int_equal(files_here(), 1);
    assert_int_equal(unlink("a"), 0);
}

static void an_incomplete_file_leaves_nothing(void **state)
{
    (void)state;
    struct cnnvp_error error = {"as it was"};
    assert_int_equal(write_text("a", "old", 1, &error), CNNVP_DONE);
    assert_int_equal(write_text("a", "half", 0, &error), CNNVP_FAILED);
    assert_string_equal(error.text, "as it was");
    expect_text("a", "old");
    assert_int_equal(files_here(), 1);
    assert_int_equal(unlink("a"), 0);
}

static void links_and_devices_are_written_through(void **state)
{
    (void)state;
    struct cnnvp_error error = {""};
    struct stat status;
    assert_int_equal(write_text("a", "old", 1, &error), CNNVP_DONE);
    assert_int_equal(symlink("a", "link"), 0);
    assert_int_equal(write_text("link", "new", 1, &error), CNNVP_DONE);
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    expect_text("a", "new");
    assert_int_equal(write_text("/dev/full", "no room", 1, &error), CNNVP_FAILED);
    assert_non_null(strstr(error.text, "/dev/full: cannot be written: No space"));
    assert_int_equal(lstat("/dev/full", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_int_equal(unlink("link"), 0);
    assert_int_equal(unlink("a"), 0);
}

static void a_place_that_is_none_is_named(void **state)
{
    (void)state;
    struct cnnvp_error error = {""};
    assert_int_equal(write_text("nowhere/a", "text", 1, &error), CNNVP_FAILED);
    assert_string_equal(error.text, "nowhere/a: cannot be written: No such file or directory");
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(write_text("folder", "text", 1, &error), CNNVP_FAILED);
    assert_string_equal(error.text, "folder: cannot be written: Is a directory");
    assert_int_equal(files_here(), 1);
    assert_int_equal(rmdir("folder"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_complete_file_takes_the_place_of_the_old_one),
        cmocka_unit_test(an_incomplete_file_leaves_nothing),
        cmocka_unit_test(links_and_devices_are_written_through),
        cmocka_unit_test(a_place_that_is_none_is_named),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
