/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF reader: a good file, each wrong one with its message, every truncation, and random damage. */

#include "test.h"

#include "elf_file.h"

enum {
    PROGRAM_AT = 52,
    TEXT_AT = 128,
    TEXT_SIZE = 16,
    SYMBOLS_AT = 144,
    SYMBOLS = 3,
    NAMES_AT = 192,
    SECTIONS_AT = 224,
    FILE_SIZE = 224 + 3 * 40
};

/* Reads a copy of the file. */
static cnnvp_result parse(const char *name, const uint8_t *file, size_t size, struct cnnvp_elf **elf,
                          struct cnnvp_error *error)
{
    uint8_t *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, file, size);
    return cnnvp_elf_take(name, copy, size, elf, error);
}

static const char names[] = "\0tohost\0fromhost\0";

static void half(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static void word(uint8_t *at, uint32_t value)
{
    half(at, value & 0xffffu);
    half(at + 2, value >> 16);
}

static void section(uint8_t *at, uint32_t type, uint32_t offset, uint32_t size, uint32_t link)
{
    word(at + 4, type);
    word(at + 16, offset);
    word(at + 20, size);
    word(at + 24, link);
}

/* One segment of 16 bytes and 16 zeros at 0x80000000, symbols tohost and fromhost, the latter undefined. */
static void make(uint8_t *file)
{
    memset(file, 0, FILE_SIZE);
    memcpy(file, "\177ELF\1\1\1", 7);
    half(file + 16, 2);
    half(file + 18, 243);
    word(file + 20, 1);
    word(file + 24, 0x80000004u);
    word(file + 28, PROGRAM_AT);
    word(file + 32, SECTIONS_AT);
    word(file + 36, 1); /* RVC */
    half(file + 40, 52);
    half(file + 42, 32);
    half(file + 44, 1);
    half(file + 46, 40);
    half(file + 48, 3);
    word(file + PROGRAM_AT, 1);
    word(file + PROGRAM_AT + 4, TEXT_AT);
    word(file + PROGRAM_AT + 8, 0x80000000u);
    word(file + PROGRAM_AT + 12, 0x80000000u);
    word(file + PROGRAM_AT + 16, TEXT_SIZE);
    word(file + PROGRAM_AT + 20, 2 * TEXT_SIZE);
    memset(file + TEXT_AT, 0x13, TEXT_SIZE);
    word(file + SYMBOLS_AT + 16, 1);
    word(file + SYMBOLS_AT + 20, 0x80001000u);
    half(file + SYMBOLS_AT + 30, 1);
    word(file + SYMBOLS_AT + 32, 8);
    memcpy(file + NAMES_AT, names, sizeof names);
    section(file + SECTIONS_AT + 40, 2, SYMBOLS_AT, SYMBOLS * 16, 2);
    section(file + SECTIONS_AT + 80, 3, NAMES_AT, sizeof names, 0);
}

static void test_good(void **state)
{
    uint8_t file[FILE_SIZE];
    struct cnnvp_elf *elf;
    struct cnnvp_error error;
    uint32_t value = 0;

    (void)state;
    make(file);
    assert_int_equal(parse("good", file, sizeof file, &elf, &error), CNNVP_DONE);
    assert_int_equal(elf->header.e_entry, 0x80000004u);
    assert_int_equal(elf->segment_count, 1);
    const struct cnnvp_elf_segment segment = elf->segments[0];
    assert_int_equal(segment.address, 0x80000000u);
    assert_int_equal(segment.file_size, TEXT_SIZE);
    assert_int_equal(segment.memory_size, 2 * TEXT_SIZE);
    assert_memory_equal(segment.data, file + TEXT_AT, TEXT_SIZE);
    assert_int_equal(cnnvp_elf_symbol(elf, "tohost", &value), 1);
    assert_int_equal(value, 0x80001000u);
    assert_int_equal(cnnvp_elf_symbol(elf, "fromhost", &value), 0); /* undefined */
    assert_int_equal(cnnvp_elf_symbol(elf, "to", &value), 0);
    assert_int_equal(cnnvp_elf_symbol(elf, "nothing", &value), 0);
    cnnvp_elf_free(elf);
    cnnvp_elf_free(NULL);
}

/* A file without section headers is good as well: stripped. */
static void test_stripped(void **state)
{
    uint8_t file[FILE_SIZE];
    struct cnnvp_elf *elf;
    struct cnnvp_error error;
    uint32_t value;

    (void)state;
    make(file);
    word(file + 32, 0);
    half(file + 48, 0);
    assert_int_equal(parse("good", file, SYMBOLS_AT, &elf, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_elf_symbol(elf, "tohost", &value), 0);
    cnnvp_elf_free(elf);
}

static void expect(const uint8_t *file, size_t size, const char *message)
{
    struct cnnvp_elf *elf;
    struct cnnvp_error error;

    assert_int_equal(parse("name.elf", file, size, &elf, &error), CNNVP_BAD_INPUT);
    assert_null(elf);
    assert_memory_equal(error.text, "name.elf: ", 10);
    if (strstr(error.text, message) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, message);
}

static void test_wrong(void **state)
{
    static const struct {
        uint32_t at;
        unsigned bytes;
        uint32_t value;
        const char *message;
    } cases[] = {
        {0, 1, 0, "is not an ELF file"},
        {4, 1, 2, "is for RV64"},
        {5, 1, 2, "for another machine"},
        {18, 2, 62, "for another machine"},
        {16, 2, 3, "is not an executable"},
        {36, 4, 4, "-mabi=ilp32"},
        {36, 4, 8, "-mabi=ilp32"},
        {44, 2, 0, "no segments"},
        {42, 2, 31, "program headers of 31 bytes"},
        {28, 4, 0xfffffff0u, "program headers are outside"},
        {44, 2, 0xffff, "program headers are outside"},
        {PROGRAM_AT, 4, 2, "no segments to load"},
        {PROGRAM_AT + 4, 4, 0xffffffffu, "is cut off: segment 0"},
        {PROGRAM_AT + 16, 4, 0xffffffffu, "is cut off: segment 0"},
        {PROGRAM_AT + 20, 4, 15, "more bytes in the file than in memory"},
        {PROGRAM_AT + 12, 4, 0xfffffff8u, "leaves the 32-bit address space"},
        {24, 4, 0x80000020u, "is in no segment"},
        {24, 4, 0, "is in no segment"},
        {32, 4, 0xffffffffu, "section headers are outside"},
        {46, 2, 8, "section headers are outside"},
        {SECTIONS_AT + 40 + 16, 4, 0xffffffffu, "symbol table is outside"},
        {SECTIONS_AT + 40 + 24, 4, 77, "symbol table is outside"},
        {SECTIONS_AT + 80 + 20, 4, 0xffffffffu, "symbol table is outside"},
    };
    uint8_t file[FILE_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        make(file);
        for (unsigned byte = 0; byte < cases[i].bytes; ++byte)
            file[cases[i].at + byte] = (uint8_t)(cases[i].value >> 8 * byte);
        expect(file, sizeof file, cases[i].message);
    }
}

static void test_every_truncation(void **state)
{
    uint8_t file[FILE_SIZE];

    (void)state;
    make(file);
    for (size_t size = 0; size < FILE_SIZE; ++size) {
        /* A block of exactly this size, so that a sanitizer sees each read beyond it. */
        uint8_t *cut = malloc(size ? size : 1);
        assert_non_null(cut);
        memcpy(cut, file, size);
        expect(cut, size, size < 4 ? "is not an ELF file" : "is cut off");
        free(cut);
    }
}

/* Whatever is in the file: an answer, and what is promised about it. */
static void test_damage(void **state)
{
    uint8_t file[FILE_SIZE];
    uint32_t random = 1;

    (void)state;
    for (int round = 0; round < 100000; ++round) {
        struct cnnvp_elf *elf;
        struct cnnvp_error error;
        uint32_t value;

        make(file);
        for (int i = 0; i < 4; ++i) {
            random = random * 1664525u + 1013904223u;
            file[(random >> 8) % FILE_SIZE] = (uint8_t)(random >> 24);
        }
        if (parse("damaged", file, sizeof file, &elf, &error) != CNNVP_DONE)
            continue;
        for (size_t i = 0; i < elf->segment_count; ++i) {
            const struct cnnvp_elf_segment segment = elf->segments[i];
            assert_true(segment.file_size <= sizeof file);
            for (uint32_t at = 0; at < segment.file_size; ++at)
                random ^= segment.data[at];
        }
        (void)cnnvp_elf_symbol(elf, "tohost", &value);
        (void)cnnvp_elf_symbol(elf, "", &value);
        cnnvp_elf_free(elf);
    }
}

static void test_files(void **state)
{
    struct cnnvp_elf *elf;
    struct cnnvp_error error;

    (void)state;
    assert_int_equal(cnnvp_elf_read("no/such/file.elf", &elf, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "no/such/file.elf: No such file or directory");
    assert_int_equal(cnnvp_elf_read("/", &elf, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "/: not a regular file; a program is needed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),   cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_wrong),  cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_damage), cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
