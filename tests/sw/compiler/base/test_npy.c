/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "cnnvp_network.h"

static const char path[] = "compiler_test.npy";

static void put(const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

/* A version 1.0 file with that header text and `data` bytes after. */
static void put_header(const char *header, size_t data)
{
    unsigned char bytes[1024] = "\x93NUMPY\x01\x00";
    const size_t length = strlen(header);
    bytes[8] = (unsigned char)(length & 0xff);
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + 10, header, length);
    put(bytes, 10 + length + data);
}

static void must_fail(const char *text)
{
    struct cnnvp_array array;
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_npy_read(path, &array, &error), CNNVP_BAD_INPUT);
    assert_null(array.data);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", text, error.text);
}

static void arrays_come_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {4, 1, 8, 2};
    for (int type = 0; type < 4; ++type) {
        for (size_t rank = 0; rank <= 8; ++rank) {
            struct cnnvp_array array = {.rank = rank};
            struct cnnvp_array back;
            struct cnnvp_error error = {""};
            unsigned char data[8 * 6 * 8];
            size_t count = 1;
            memcpy(&array.type, &type, sizeof type);
            for (size_t i = 0; i < rank; ++i) {
                array.shape[i] = i < 2 ? 3 - i : 1;
                count *= array.shape[i];
            }
            for (size_t i = 0; i < sizeof data; ++i)
                data[i] = (unsigned char)(i * 37 + rank);
            array.data = data;
            assert_int_equal(cnnvp_npy_write(path, &array, &error), CNNVP_DONE);
            assert_int_equal(cnnvp_npy_read(path, &back, &error), CNNVP_DONE);
            assert_int_equal(back.type, array.type);
            assert_int_equal(back.rank, rank);
            assert_memory_equal(back.shape, array.shape, rank * sizeof back.shape[0]);
            assert_memory_equal(back.data, data, count * sizes[type]);
            cnnvp_array_clear(&back);
            assert_null(back.data);
        }
    }
    (void)unlink(path);
}

static void hostile_headers_are_refused(void **state)
{
    (void)state;
    put("", 0);
    must_fail("not a npy file");
    put("\x93NUMPY\x03\x00\x10\x00", 10);
    must_fail("version");
    put("\x93NUMPY\x01\x00\x10\x00{'descr'", 18);
    must_fail("cut off");
    put("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12);
    must_fail("too long");
    put_header("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n", 4);
    must_fail("'<f4' (float32), '|u1' (uint8)");
    put_header("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }\n", 4);
    must_fail("Fortran order");
    put_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 4);
    must_fail("more elements than it holds");
    put_header("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n", 4);
    must_fail("more elements than it holds");
    put_header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999, ), }\n", 4);
    must_fail("shape");
    put_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }\n", 4);
    must_fail("shape");
    put_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }\n", 4);
    must_fail("shape");
    put_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }\n", 4);
    must_fail("shape");
    put_header("{'descr': '<f4', 'shape': (1,), }\n", 4);
    must_fail("damaged");
    put_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}\n", 4);
    must_fail("damaged");
    put_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", 4);
    must_fail("damaged");
    put_header("{'descr': '<f4", 0);
    must_fail("");
    (void)unlink(path);
    must_fail("No such file");
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    (void)alarm(20); /* what waits for a writer would wait for ever */
    assert_int_equal(mkfifo(path, 0600), 0);
    must_fail("compiler_test.npy: not a regular file; an array (.npy) is needed");
    (void)alarm(0);
    (void)unlink(path);
    put("version https://git-lfs.github.com/spec/v1\n", 43);
    must_fail("compiler_test.npy: a Git LFS pointer: git lfs pull");
    (void)unlink(path);
}

static void every_prefix_is_refused(void **state)
{
    (void)state;
    struct cnnvp_error error = {""};
    float values[3] = {1, 2, 3};
    const struct cnnvp_array array = {.type = CNNVP_ARRAY_F32, .rank = 1, .shape = {3}, .data = values};
    assert_int_equal(cnnvp_npy_write(path, &array, &error), CNNVP_DONE);
    char bytes[256];
    FILE *stream = fopen(path, "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, stream);
    (void)fclose(stream);
    assert_int_equal(size % 64, 12);
    for (size_t length = 0; length < size; ++length) {
        put(bytes, length);
        must_fail("");
    }
    (void)unlink(path);
}

static void nothing_half_written_stays(void **state)
{
    (void)state;
    struct cnnvp_error error = {""};
    float value = 1;
    const struct cnnvp_array array = {.type = CNNVP_ARRAY_F32, .rank = 1, .shape = {1}, .data = &value};
    assert_int_equal(cnnvp_npy_write("/nowhere/a.npy", &array, &error), CNNVP_FAILED);
    assert_non_null(strstr(error.text, "/nowhere/a.npy: cannot be written: "));
}

/* Also what is done to a device, which must not become a plain file. */
static void links_are_written_through(void **state)
{
    (void)state;
    struct cnnvp_error error = {""};
    float value = 1;
    struct stat status;
    const struct cnnvp_array array = {.type = CNNVP_ARRAY_F32, .rank = 1, .shape = {1}, .data = &value};
    char link[256];
    (void)snprintf(link, sizeof link, "%s.link", path);
    assert_int_equal(symlink(path, link), 0);
    put("", 0);
    assert_int_equal(cnnvp_npy_write(link, &array, &error), CNNVP_DONE);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    struct cnnvp_array back;
    assert_int_equal(cnnvp_npy_read(path, &back, &error), CNNVP_DONE);
    cnnvp_array_clear(&back);
    (void)unlink(link);
    assert_int_equal(symlink("/dev/full", link), 0);
    assert_int_equal(cnnvp_npy_write(link, &array, &error), CNNVP_FAILED);
    assert_non_null(strstr(error.text, "cannot be written: "));
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    (void)unlink(link);
    (void)unlink(path);
}

static void empty_arrays_are_arrays(void **state)
{
    (void)state;
    struct cnnvp_array array;
    struct cnnvp_error error = {""};
    put_header("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296), }\n", 0);
    assert_int_equal(cnnvp_npy_read(path, &array, &error), CNNVP_DONE);
    assert_int_equal(array.shape[0], 0);
    cnnvp_array_clear(&array);
    (void)unlink(path);
}

/* As numpy writes masks and indices: int32, and booleans, of which any byte but 0 is true. */
static void other_integers_become_int64(void **state)
{
    (void)state;
    static const unsigned char data[] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x01, 0x00, 0x00};
    static const struct {
        const char *header;
        size_t count, used;
        int64_t numbers[4];
    } files[] = {{"{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n", 2, 8, {-1, 256}},
                 {"{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), }\n", 4, 4, {1, 0, 1, 1}}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
        struct cnnvp_array array;
        struct cnnvp_error error = {""};
        unsigned char bytes[256] = "\x93NUMPY\x01\x00";
        const size_t length = strlen(files[i].header);
        bytes[8] = (unsigned char)length;
        memcpy(bytes + 10, files[i].header, length);
        memcpy(bytes + 10 + length, i == 0 ? data : (const unsigned char *)"\x01\x00\x02\xff", files[i].used);
        put(bytes, 10 + length + files[i].used);
        assert_int_equal(cnnvp_npy_read(path, &array, &error), CNNVP_DONE);
        assert_int_equal(array.type, CNNVP_ARRAY_I64);
        assert_memory_equal(array.data, files[i].numbers, files[i].count * sizeof(int64_t));
        cnnvp_array_clear(&array);
    }
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_come_back),           cmocka_unit_test(hostile_headers_are_refused),
        cmocka_unit_test(what_is_no_file_is_refused), cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(nothing_half_written_stays), cmocka_unit_test(links_are_written_through),
        cmocka_unit_test(empty_arrays_are_arrays),    cmocka_unit_test(other_integers_become_int64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
