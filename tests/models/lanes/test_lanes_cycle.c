/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands cost on lanes: the closed forms equal the stepped lanes in every cycle, beat and operation, for random
 * instructions and shapes.
 */
#include "lanes/lanes_internal.h"
#include "nfu_case.h"
#include "random.h"
#include "vector_bench.h"

#include <string.h>

static struct lanes_shape random_shape(uint64_t *random)
{
    static const uint64_t lanes[] = {1, 2, 3, 7, 16, 100, 256};
    return (struct lanes_shape){.lanes = lanes[between(random, 0, 6)],
                                .units = between(random, 1, 9),
                                .pipeline = between(random, 0, 5),
                                .div_cycles = between(random, 0, 12)};
}

/* Any instruction that works element by element or goes over repetitions, with gaps between these and without. */
static struct lanes_job random_job(uint64_t *random, uint64_t lanes)
{
    struct lanes_job job;
    struct vector_tile tile = {
        .count = between(random, 1, between(random, 0, 3) == 0 ? 1000 : 40),
        .repeat = between(random, 1, 20),
        .a_stride = (int32_t)between(random, 0, 2),
        .b_stride = (int32_t)between(random, 0, 1),
        .b_repeat = (int32_t)between(random, 0, 1)};
    struct cnnvp_command command = {.opcode = between(random, OP_vmac, OP_vsoftmax), .count = 15};
    if (command.opcode == OP_vout && tile.count > lanes)
        tile.count = (uint32_t)lanes;
    tile.a_repeat = between(random, 0, 3) == 0 ? 0 : (int32_t)(2u * tile.count + between(random, 0, 1));
    tile.out_repeat = (int32_t)tile.count;
    command.status = between(random, 0, 1) * STORE;
    if (command.opcode <= OP_vcmp)
        command.status |= between(random, 0, 1) * ACCUMULATE;
    memcpy(command.descriptor, &tile, sizeof tile);
    const char *error = lanes_decode(&command, lanes, &job);
    if (error != NULL)
        fail_msg("opcode 0x%02x: %s", command.opcode, error);
    return job;
}

static void test_elements(void **state)
{
    uint64_t random = 21;
    uint64_t seen = 0; /* a bit for each opcode */
    (void)state;
    for (int n = 0; n < 4000; ++n) {
        const struct lanes_shape shape = random_shape(&random);
        const struct lanes_job job = random_job(&random, shape.lanes);
        struct lanes_cost fast, stepped;
        lanes_cost(&job, &shape, &fast);
        lanes_cycle(&job, &shape, &stepped);
        if (memcmp(&fast, &stepped, sizeof fast) != 0)
            print_error("opcode 0x%02x, %u x %u on %u x %u lanes\n", job.opcode, (unsigned)job.repeat,
                        (unsigned)job.count, (unsigned)shape.units, (unsigned)shape.lanes);
        assert_memory_equal(&fast, &stepped, sizeof fast);
        seen |= UINT64_C(1) << (job.opcode - OP_vmac);
    }
    assert_int_equal(seen, (UINT64_C(2) << (OP_vsoftmax - OP_vmac)) - 1u);
}

static void test_windows(void **state)
{
    uint64_t random = 22;
    uint64_t windows = 0;
    (void)state;
    while (windows < 300) {
        const struct lanes_shape shape = random_shape(&random);
        struct nfu_case c;
        nfu_case_random(&c, &random);
        if (c.opcode == OP_CONV || c.opcode == OP_POOL) {
            const struct cnnvp_fx16_tile tile = nfu_case_tile(&c);
            struct cnnvp_fx16_traffic fast_traffic, stepped_traffic;
            struct lanes_cost fast, stepped;
            lanes_window_cost(&tile, &shape, &fast, &fast_traffic);
            lanes_window_cycle(&tile, &shape, &stepped, &stepped_traffic);
            assert_memory_equal(&fast, &stepped, sizeof fast);
            assert_memory_equal(&fast_traffic, &stepped_traffic, sizeof fast_traffic);
            ++windows;
        }
        nfu_case_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elements), cmocka_unit_test(test_windows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
