/* SPDX-License-Identifier: Apache-2.0 */
/* A file is there complete, or as it was. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output_file.h"
#include "config_case.h"

static const char *path_of(const char *name)
{
    static char path[200];
    (void)snprintf(path, sizeof path, "%s/%s", test_folder, name);
    return path;
}

static void expect_content(const char *path, const char *content)
{
    char text[64] = "";
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fread(text, 1, sizeof text - 1, stream), strlen(content));
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, content);
}

static void complete_or_as_it_was(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_output *output = NULL;
    const char *path = path_of("out");
    for (int round = 0; round < 2; ++round) {
        assert_int_equal(cnnvp_output_new(path, &output, &error), CNNVP_DONE);
        cnnvp_output_write(output, round ? "new" : "old", 3);
        if (round)
            expect_content(path, "old ");
        memcpy(cnnvp_output_room(output, 8), " ", 1);
        cnnvp_output_filled(output, 1);
        assert_int_equal(cnnvp_output_finish(output, &error), CNNVP_DONE);
    }
    expect_content(path, "new ");
    assert_int_equal(cnnvp_output_new(path, &output, &error), CNNVP_DONE);
    cnnvp_output_write(output, "half", 4);
    cnnvp_output_discard(output);
    cnnvp_output_discard(NULL);
    expect_content(path, "new ");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(test_folder), 0); /* nothing else was left */
    assert_int_equal(mkdir(test_folder, 0700), 0);
}

/* More than any buffer, in pieces of all sizes. */
static void large_files(void **state)
{
    (void)state;
    enum { PIECES = 600 };
    static unsigned char piece[PIECES];
    struct cnnvp_error error;
    cnnvp_output *output = NULL;
    const char *path = path_of("large");
    assert_int_equal(cnnvp_output_new(path, &output, &error), CNNVP_DONE);
    for (size_t i = 0; i < PIECES; ++i) {
        memset(piece, (int)(i % 251), sizeof piece);
        cnnvp_output_write(output, piece, i);
    }
    assert_int_equal(cnnvp_output_finish(output, &error), CNNVP_DONE);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    for (size_t i = 0; i < PIECES; ++i)
        for (size_t j = 0; j < i; ++j)
            assert_int_equal(fgetc(stream), i % 251);
    assert_int_equal(fgetc(stream), EOF);
    assert_int_equal(fclose(stream), 0);
}

static void places_that_are_none(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_output *output = NULL;
    const char *path = path_of("nowhere/out");
    assert_int_equal(cnnvp_output_check(path, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "No such file or directory"));
    assert_int_not_equal(cnnvp_output_new(path, &output, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_output_check(test_folder, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "is a folder, not a file to write"));
    assert_int_equal(cnnvp_output_check(path_of("fine"), &error), CNNVP_DONE);
    assert_int_equal(access(path_of("fine"), F_OK), -1);
}

/* The first error is kept, however much follows it. */
static void full_disk(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_output *output = NULL;
    assert_int_equal(cnnvp_output_new("/dev/full", &output, &error), CNNVP_DONE);
    for (int i = 0; i < 100000; ++i)
        cnnvp_output_write(output, "0123456789", 10);
    assert_int_equal(cnnvp_output_finish(output, &error), CNNVP_FAILED);
    assert_non_null(strstr(error.text, "No space left on device"));
}

/* A link stays one, and its target is written; a new file has the rights of one that is simply made. */
static void links_and_rights(void **state)
{
    (void)state;
    struct cnnvp_error error;
    struct stat status;
    cnnvp_output *output = NULL;
    char target[200];
    (void)snprintf(target, sizeof target, "%s", path_of("target"));
    const char *way = path_of("link");
    assert_int_equal(symlink("target", way), 0);
    const mode_t mask = umask(027);
    for (int round = 0; round < 2; ++round) { /* the target is made, then written through the link */
        assert_int_equal(cnnvp_output_new(round ? way : target, &output, &error), CNNVP_DONE);
        cnnvp_output_write(output, round ? "new" : "old", 3);
        assert_int_equal(cnnvp_output_finish(output, &error), CNNVP_DONE);
    }
    (void)umask(mask);
    assert_int_equal(lstat(way, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    expect_content(target, "new");
    assert_int_equal(stat(target, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_or_as_it_was), cmocka_unit_test(large_files),
        cmocka_unit_test(places_that_are_none),  cmocka_unit_test(full_disk),
        cmocka_unit_test(links_and_rights),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
