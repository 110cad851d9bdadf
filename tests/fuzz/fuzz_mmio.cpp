/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that loads and stores what the input says, on the whole nfu platform. Operations:
 *   byte 0 & 7 == 0: a word of 8 bytes into the instruction queue
 *   otherwise      : (byte 0 & 7) what, (byte 0 >> 3 & 7) where, 3 bytes of offset, 4 bytes of value
 * what: 1 store word, 2 load word, 3 store half, 4 store byte, 5 load byte, 6 enable interrupts, 7 wait.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "cnnvp.h"

#define OPERATIONS 600u
#define ELF_HEADER 84u
#define TABLE 0x1000u /* in memory behind the code */
#define QUEUE 0x10010010u

/*
 * mtvec = trap; s0 = 0x80001000
 * loop: what, address, value = table[s0++]; what == 0: wfi for ever; do it; j loop
 * trap: an interrupt: mie = 0; anything else: mepc += 4; mret
 */
static const uint32_t code[] = {
    0x800002b7u, 0x0a428293u, 0x30529073u, 0x80001437u, 0x00042303u, 0x00442383u, 0x00842e03u, 0x00c40413u, 0x06030e63u,
    0x00737313u, 0x00100e93u, 0x03d30e63u, 0x00200e93u, 0x03d30e63u, 0x00300e93u, 0x03d30e63u, 0x00400e93u, 0x03d30e63u,
    0x00500e93u, 0x03d30e63u, 0x00600e93u, 0x03d30e63u, 0x3ffe7e13u, 0xfffe0e13u, 0xfe0e5ee3u, 0xfadff06fu, 0x01c3a023u,
    0xfa5ff06fu, 0x0003ae03u, 0xf9dff06fu, 0x01c39023u, 0xf95ff06fu, 0x01c38023u, 0xf8dff06fu, 0x0003ce03u, 0xf85ff06fu,
    0x304e1073u, 0x30046073u, 0xf79ff06fu, 0x10500073u, 0xffdff06fu, 0x34202ff3u, 0x000fca63u, 0x34102ff3u, 0x004f8f93u,
    0x341f9073u, 0x30200073u, 0x30401073u, 0x30200073u,
};

static const uint32_t regions[8] = {0x10010000u, 0x02000000u, 0x0c000000u, 0x10000000u,
                                    0x80010000u, 0x80000000u, 0x00000000u, 0xff000000u};

static uint8_t program[ELF_HEADER + TABLE + (OPERATIONS * 2u + 1u) * 12u];

static void put(uint8_t *to, uint32_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; ++i)
        to[i] = (uint8_t)(value >> (8u * i));
}

static uint32_t take(const uint8_t *from, uint32_t bytes)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < bytes; ++i)
        value |= (uint32_t)from[i] << (8u * i);
    return value;
}

/* One executable segment at the start of memory. */
static void make_program(const uint8_t *data, size_t size)
{
    memset(program, 0, sizeof program);
    memcpy(program, "\177ELF\1\1\1", 7);
    put(program + 16, 2u | 243u << 16, 4);
    put(program + 20, 1, 4);
    put(program + 24, 0x80000000u, 4);
    put(program + 28, 52, 4);
    put(program + 40, 52u | 32u << 16, 4);
    put(program + 44, 1, 2);
    put(program + 52, 1, 4);
    put(program + 56, ELF_HEADER, 4);
    put(program + 60, 0x80000000u, 4);
    put(program + 64, 0x80000000u, 4);
    put(program + 68, sizeof program - ELF_HEADER, 4);
    put(program + 72, sizeof program - ELF_HEADER, 4);
    for (uint32_t i = 0; i < sizeof code / sizeof code[0]; ++i)
        put(program + ELF_HEADER + 4u * i, code[i], 4);
    uint8_t *to = program + ELF_HEADER + TABLE;
    for (uint32_t i = 0; i < OPERATIONS && size; ++i) {
        const uint32_t what = data[0] & 7u;
        const uint32_t bytes = what ? 8u : 9u;
        if (size < bytes)
            break;
        if (what) {
            put(to, what, 4);
            put(to + 4, regions[data[0] >> 3 & 7u] + take(data + 1, 3), 4);
            put(to + 8, take(data + 4, 4), 4);
            to += 12;
        } else {
            for (uint32_t half = 0; half < 2; ++half, to += 12) {
                put(to, 1, 4);
                put(to + 4, QUEUE + 4u * half, 4);
                put(to + 8, take(data + 1 + 4u * half, 4), 4);
            }
        }
        data += bytes;
        size -= bytes;
    }
}

static void no_console(void *context, const void *data, size_t size)
{
    (void)context;
    (void)data;
    (void)size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cnnvp_config *config;
    struct cnnvp_error error = {""};
    if (!config) {
        fuzz_require(cnnvp_config_new("nfu", &config, &error) == CNNVP_DONE &&
                         cnnvp_config_set(config, "dram.size=1MiB", &error) == CNNVP_DONE &&
                         cnnvp_config_resolve(config, &error) == CNNVP_DONE, error.text);
    }
    const struct cnnvp_platform_options options = {.struct_size = sizeof options,
                                                   .verbosity = -1,
                                                   .max_time_ps = UINT64_C(100000000), /* 100 us */
                                                   .console = no_console};
    cnnvp_platform *platform = NULL;
    struct cnnvp_run_result result;
    char *json = NULL;
    make_program(data, size);
    fuzz_require(cnnvp_platform_new(config, &options, &platform, &error) == CNNVP_DONE, error.text);
    fuzz_require(cnnvp_platform_load_elf(platform, fuzz_file(program, sizeof program), 0, NULL, &error) == CNNVP_DONE,
                 error.text);
    if (cnnvp_platform_run(platform, &result) != CNNVP_DONE)
        fuzz_require(result.reason[0] != '\0', "the reason of an end");
    /* Statistics take a third of the time: of some inputs. */
    fuzz_require(size % 8 != 0 || cnnvp_platform_stats(platform, &json) == CNNVP_DONE, "statistics");
    free(json);
    cnnvp_platform_free(platform);
    return 0;
}
