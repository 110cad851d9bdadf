/* SPDX-License-Identifier: Apache-2.0 */
/* Files that people hand over: what is none is refused at once. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input_file.h"
#include "config_case.h"

static const char *path_of(const char *name)
{
    static char path[200];
    (void)snprintf(path, sizeof path, "%s/%s", test_folder, name);
    return path;
}

static void must_fail(const char *path, const char *text)
{
    size_t size = 0;
    char expected[300];
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_input_open(path, "a cake", &size, &error), -1);
    (void)snprintf(expected, sizeof expected, "%s: %s", path, text);
    assert_string_equal(error.text, expected);
}

static void pipes_and_folders_are_refused(void **state)
{
    (void)state;
    (void)alarm(20); /* what waits for a writer would wait for ever */
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    must_fail(path_of("pipe"), "not a regular file; a cake is needed");
    (void)alarm(0);
    must_fail(test_folder, "not a regular file; a cake is needed");
    must_fail("/dev/null", "not a regular file; a cake is needed");
    must_fail(path_of("none"), "No such file or directory");
    assert_int_equal(unlink(path_of("pipe")), 0);
}

static void pointers_of_git_lfs_are_known(void **state)
{
    static const char pointer[] =
        "version https://git-lfs.github.com/spec/v1\n"
        "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
        "size 12345\n";
    (void)state;
    for (size_t length = 0; length < sizeof pointer; ++length) {
        FILE *stream = fopen(path_of("data"), "wb");
        size_t size = 0;
        struct cnnvp_error error = {""};
        assert_non_null(stream);
        assert_int_equal(fwrite(pointer, 1, length, stream), length);
        assert_int_equal(fclose(stream), 0);
        if (length >= strlen("version https://git-lfs.github.com/spec/")) {
            must_fail(path_of("data"), "a Git LFS pointer: git lfs pull");
            continue;
        }
        const int descriptor = cnnvp_input_open(path_of("data"), "a cake", &size, &error);
        assert_true(descriptor >= 0);
        assert_int_equal(size, length);
        assert_int_equal(lseek(descriptor, 0, SEEK_CUR), 0);
        assert_int_equal(close(descriptor), 0);
    }
    assert_int_equal(unlink(path_of("data")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipes_and_folders_are_refused),
        cmocka_unit_test(pointers_of_git_lfs_are_known),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
