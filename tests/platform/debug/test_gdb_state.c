/* SPDX-License-Identifier: Apache-2.0 */
/* What a debugger reads and writes, of a core and a bus that are made up. */
#include "test.h"

#include "gdb_internal.h"

enum { MEMORY = 0x1000, MEMORY_SIZE = 64, DEVICE = 0x2000, REGISTERS = GDB_GENERAL + 2 };

static uint32_t registers[REGISTERS], written[2];
static unsigned char memory[MEMORY_SIZE];
static struct cnnvp_gdb gdb;

static const char *name(void *self, uint32_t number)
{
    static const char *const names[] = {"x", "pc", "mepc"};

    (void)self;
    return number < GDB_GENERAL - 1 ? names[0] : number < GDB_GENERAL ? names[1] : number == 34 ? names[2] : NULL;
}

static int get(void *self, uint32_t number, uint32_t *value)
{
    (void)self;
    if (number >= REGISTERS)
        return -1;
    *value = registers[number];
    return 0;
}

static int put(void *self, uint32_t number, uint32_t value)
{
    (void)self;
    if (number >= REGISTERS)
        return -1;
    registers[number] = value;
    return 0;
}

static void note(void *self, uint32_t address, uint32_t size)
{
    (void)self;
    written[0] = address;
    written[1] = size;
}

/* The device is read as one word alone. */
static int bus_read(void *context, uint32_t address, void *data, size_t size)
{
    (void)context;
    if (address == DEVICE && size == 4)
        memcpy(data, "\x11\x22\x33\x44", 4);
    else if (address >= MEMORY && address + size <= MEMORY + MEMORY_SIZE)
        memcpy(data, memory + (address - MEMORY), size);
    else
        return 0;
    return 1;
}

static int bus_write(void *context, uint32_t address, const void *data, size_t size)
{
    (void)context;
    if (address < MEMORY || address + size > MEMORY + MEMORY_SIZE)
        return 0;
    memcpy(memory + (address - MEMORY), data, size);
    return 1;
}

static const struct cnnvp_core core = {
    .csr_base = 33, .csr_count = 2, .name = name, .get = get, .set = put, .written = note};

static const char *answer(void (*packet)(struct cnnvp_gdb *, const char *), const char *text)
{
    gdb.target = (struct cnnvp_gdb_target){.read = bus_read, .write = bus_write};
    gdb.core = &core;
    gdb.out = 0;
    packet(&gdb, text);
    gdb.text[gdb.out] = 0;
    return gdb.text;
}

static void registers_are_little_endian(void **state)
{
    char all[8 * GDB_GENERAL + 1] = "";

    (void)state;
    assert_string_equal(answer(gdb_write_register, "2=78563412"), "OK");
    assert_int_equal(registers[2], 0x12345678);
    assert_string_equal(answer(gdb_read_register, "2"), "78563412");
    for (int i = 0; i < GDB_GENERAL; ++i)
        (void)snprintf(all + 8 * i, 9, "%02x000000", (unsigned)i);
    assert_string_equal(answer(gdb_write_general, all), "OK");
    assert_int_equal(registers[32], 32);
    gdb.out = 0;
    gdb_read_general(&gdb);
    assert_string_equal(gdb.text, all);
}

static void other_registers_are_refused(void **state)
{
    static const char *const wrong[] = {"2=785634", "2=785634120", "2=7856341g", "2", "=78563412", "40=78563412"};

    (void)state;
    registers[2] = 5;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        assert_string_equal(answer(gdb_write_register, wrong[i]), "E01");
    assert_string_equal(answer(gdb_read_register, "40"), "E01");
    assert_string_equal(answer(gdb_read_register, "100000002"), "E01"); /* more than 32 bits */
    assert_string_equal(answer(gdb_write_general, "00"), "E01");
    assert_int_equal(registers[2], 5);
}

static void features_come_in_parts(void **state)
{
    char whole[8192] = "";
    size_t size = 0;

    (void)state;
    do {
        char part[32];
        (void)snprintf(part, sizeof part, "%zx,64", size);
        (void)answer(gdb_read_features, part);
        size += (size_t)snprintf(whole + size, sizeof whole - size, "%s", gdb.text + 1);
    } while (gdb.text[0] == 'm');
    assert_string_equal(answer(gdb_read_features, "100000,64"), "l");
    assert_string_equal(answer(gdb_read_features, "0"), "E01");
    assert_non_null(strstr(whole, "<reg name=\"pc\" bitsize=\"32\" regnum=\"32\" type=\"code_ptr\"/>"));
    assert_non_null(strstr(whole, "<reg name=\"mepc\" bitsize=\"32\" regnum=\"34\" group=\"csr\"/>"));
    assert_null(strstr(whole, "regnum=\"33\"")); /* no such CSR */
    assert_string_equal(whole + size - 21, "</feature>\n</target>\n");
    free(gdb.features);
    gdb.features = NULL;
}

static void memory_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    memcpy(memory + MEMORY_SIZE - 4, "\1\2\3\4", 4);
    assert_string_equal(answer(gdb_read_memory, "103c,4"), "01020304");
    assert_string_equal(answer(gdb_read_memory, "103d,10"), "020304");
    assert_string_equal(answer(gdb_read_memory, "1040,1"), "E01");
    assert_string_equal(answer(gdb_read_memory, "1040,0"), "");
    assert_string_equal(answer(gdb_read_memory, "103c"), "E01");
    assert_string_equal(answer(gdb_read_memory, "2001,2"), "2233"); /* by way of its word */
}

static void what_is_written_is_told_to_the_core(void **state)
{
    (void)state;
    assert_string_equal(answer(gdb_write_memory, "1004,3:a0b0c0"), "OK");
    assert_memory_equal(memory + 4, "\xa0\xb0\xc0", 3);
    assert_int_equal(written[0], 0x1004);
    assert_int_equal(written[1], 3);
    assert_string_equal(answer(gdb_write_memory, "1004,2:a0b0c0"), "E01");
    assert_string_equal(answer(gdb_write_memory, "103f,2:ffff"), "E01");
    gdb.out = 0;
    gdb_write_binary(&gdb, "X1008,2:\0z", 10);
    assert_string_equal(gdb.text, "OK");
    assert_memory_equal(memory + 8, "\0z", 2);
    gdb.out = 0;
    gdb_write_binary(&gdb, "X1008,3:\0z", 10);
    assert_string_equal(gdb.text, "E01");
    assert_int_equal(written[0], 0x1008);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_are_little_endian),
        cmocka_unit_test(other_registers_are_refused),
        cmocka_unit_test(features_come_in_parts),
        cmocka_unit_test(memory_is_read_as_far_as_it_goes),
        cmocka_unit_test(what_is_written_is_told_to_the_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
