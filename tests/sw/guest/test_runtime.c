/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime on an MMIO layer whose accelerator never has room: what it does before the first instruction. */
#include "cnnvp_runtime.h"
#include "binary/network_binary.h"
#include "test.h"

#include <string.h>

enum { BYTES = 4096, INPUT = 2048, ELEMENT = 0x10000, ROWS = 8, COLUMNS = 8 };

struct board {
    union {
        struct cnnvp_binary_results binary;
        uint8_t bytes[BYTES];
    } memory;
    struct cnnvp_runtime_binary runtime;
    unsigned writes, stop_at, sleeps;
};

static uint32_t read(void *host, uint32_t address)
{
    const struct board *board = host;
    uint32_t value = 0;
    if (address < BYTES)
        memcpy(&value, board->memory.bytes + address, sizeof value);
    return value;
}

static void write(void *host, uint32_t address, uint32_t value)
{
    struct board *board = host;
    if (address >= BYTES)
        return;
    memcpy(board->memory.bytes + address, &value, sizeof value);
    if (++board->writes == board->stop_at)
        cnnvp_runtime_stop(&board->runtime);
}

static const void *memory(void *host, uint32_t address)
{
    const struct board *board = host;
    return board->memory.bytes + address;
}

static void console(void *host, char character)
{
    (void)host;
    (void)character;
}

static int sleep_once(void *host)
{
    struct board *board = host;
    ++board->sleeps;
    cnnvp_runtime_stop(&board->runtime);
    return 0;
}

static void run(struct board *board, uint32_t word_shift, unsigned stop_at)
{
    int16_t input[ROWS * COLUMNS];
    memset(board, 0, sizeof *board);
    for (int i = 0; i < ROWS * COLUMNS; ++i)
        input[i] = (int16_t)(i % 2 ? 100 * i : -100 * i);
    board->memory.binary.binary = (struct cnnvp_binary){
        .magic = CNNVP_BINARY_MAGIC,
        .version = CNNVP_BINARY_VERSION,
        .images = 1,
        .batch = 1,
        .layer_count = 1,
        .layers = 512,
        .element = ELEMENT,
        .input_halves = 2,
        .weight_halves = 2,
        .output_halves = 2,
        .input = {.address = INPUT,
                  .channels = 1,
                  .height = ROWS,
                  .width = COLUMNS,
                  .column_stride = 1,
                  .row_stride = COLUMNS,
                  .channel_stride = ROWS * COLUMNS,
                  .word_shift = word_shift}};
    board->stop_at = stop_at;
    board->runtime.machine = (struct cnnvp_machine){board, read, write, memory, console, sleep_once};
    assert_int_equal(cnnvp_runtime_run(&board->runtime, input, NULL, NULL), CNNVP_RUNTIME_STOPPED);
}

static void test_words(void **state)
{
    static struct board board;
    (void)state;
    for (uint32_t word_shift = 0; word_shift < 2; ++word_shift) {
        run(&board, word_shift, 0);
        assert_int_equal(board.sleeps, 1);
        for (int i = 0; i < ROWS * COLUMNS; ++i) {
            const int value = i % 2 ? 100 * i : -100 * i;
            int16_t wide;
            memcpy(&wide, board.memory.bytes + INPUT + 2 * i, sizeof wide);
            if (word_shift != 0)
                assert_int_equal(wide, value);
            else
                assert_int_equal((int8_t)board.memory.bytes[INPUT + i],
                                 value > 127    ? 127
                                 : value < -128 ? -128
                                                : value);
        }
    }
}

static void test_stop(void **state)
{
    static struct board board;
    (void)state;
    run(&board, 1, COLUMNS + 1);
    assert_int_equal(board.writes, 2 * COLUMNS); /* to the end of the row */
    assert_int_equal(board.sleeps, 0);
    run(&board, 1, ROWS * COLUMNS);
    assert_int_equal(board.sleeps, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
