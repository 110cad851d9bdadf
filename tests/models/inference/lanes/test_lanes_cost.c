/* SPDX-License-Identifier: Apache-2.0 */
/* Words and cycles by closed forms, and against a walk over lanes and steps. */
#include "inference/lanes/lanes_internal.h"
#include "window_case.h"
#include "random.h"

static void test_closed_forms(void **state)
{
    enum { POOL_SUM = 4, BIAS = 8, DEPTHWISE = 0x20 };
    const struct {
        struct nfu_case c;
        uint32_t status;
        struct shape shape;
        int64_t beats;
    } cases[] = {
        /* opcode, in, out, w, h, kx, ky, sx, sy; 75 results are 5 groups of 16 */
        {nfu_case_window(OP_POOL, 3, 3, 5, 5, 2, 2, 2, 2), 0, {16, 1, 4096, 0, 0}, 5 * 4},
        {nfu_case_window(OP_POOL, 512, 512, 1, 1, 7, 7, 1, 1), POOL_SUM, {16, 1, 4096, 1, 0}, 32 * 49},
        {nfu_case_window(OP_CONV, 10, 10, 7, 7, 3, 3, 1, 1), BIAS | DEPTHWISE, {16, 1, 4096, 0, 0}, 31 * 9},
        {nfu_case_window(OP_CONV, 10, 10, 7, 7, 3, 3, 1, 1), BIAS | DEPTHWISE, {16, 4, 4096, 0, 0}, 10 * 9},
        {nfu_case_window(OP_CONV, 6, 16, 10, 10, 5, 5, 1, 1), BIAS, {16, 1, 4096, 0, 0}, 100 * 150},
        /* 16 weights of 16 channels, 128 words apart: all in one of 16 banks; 136 apart, each in another; 144, two */
        {nfu_case_window(OP_CONV, 128, 16, 1, 1, 1, 1, 1, 1), 0, {16, 1, 4096, 1, 16}, 128 * 16},
        {nfu_case_window(OP_CONV, 136, 16, 1, 1, 1, 1, 1, 1), 0, {16, 1, 4096, 1, 16}, 136},
        {nfu_case_window(OP_CONV, 16, 16, 1, 1, 3, 3, 1, 1), 0, {16, 1, 4096, 1, 16}, 144 * 2},
        /* every second word of a row for 16 lanes: 31 words from word 0 or 1 on, 4 lines of its one bank */
        {nfu_case_window(OP_POOL, 1, 1, 16, 16, 2, 2, 2, 2), 0, {16, 1, 4096, 1, 16}, 16 * 4 * 4},
        /* for 8 columns 2 lines, of two rows that have banks of their own, or share the only one */
        {nfu_case_window(OP_POOL, 1, 1, 8, 8, 2, 2, 2, 2), 0, {16, 1, 4096, 1, 16}, 4 * 4 * 2},
        {nfu_case_window(OP_POOL, 1, 1, 8, 8, 2, 2, 2, 2), 0, {16, 1, 4096, 1, 1}, 4 * 4 * 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct pair pair;
        struct nfu_case c = cases[i].c;
        c.status = cases[i].status;
        c.in_channel_stride = c.opcode == OP_CONV ? 200 : 49;
        struct cnnvp_command command = command_of(&c);
        command.opcode = c.opcode == OP_CONV ? OP_vconv : OP_vpool;
        command.tag = 3;
        pair_open(&pair, &cases[i].shape);
        assert_int_equal(run(&pair, pair.bench.vector, &command), cases[i].beats + PIPELINE);
        const struct fake_span *span = &pair.bench.vector->spans[0];
        assert_string_equal(span->name, c.opcode == OP_CONV ? "vconv" : "vpool");
        assert_int_equal(span->tag, 3);
        assert_int_equal(span->end - span->begin, (uint64_t)(cases[i].beats + PIPELINE) * BENCH_CYCLE);
        bench_close(&pair.bench);
    }
}

/* ---- instructions that work element by element, or repetition by repetition ---- */

enum { SUMS = 1 << 4 };

/* What lanes do with a repetition, or with all elements where these fill the lanes without gaps: s a sweep, d one whose
 * divisions hold the lanes, f a fold of the lanes in pairs, / a division, * a product. Then the operations of an
 * element and of a repetition: mac, add, sub, div, cmp. */
static const struct steps {
    uint32_t opcode, status;
    const char *steps;
    uint64_t of_element[LANES_OPERATORS], of_repetition[LANES_OPERATORS];
    uint64_t reads_a;
} all_steps[] = {
    {OP_vmac, 0, "s", {1}, {0}, 1},
    {OP_vadd, 0, "s", {0, 1}, {0}, 1},
    {OP_vsub, 0, "s", {0, 0, 1}, {0}, 1},
    {OP_vmac, SCALE, "s", {0}, {0}, 1},
    {OP_vadd, SCALE, "s", {0}, {0}, 1},
    {OP_vsub, SCALE, "s", {0}, {0}, 1},
    {OP_vdiv, SCALE, "d", {0}, {0}, 1},
    {OP_vdiv, 0, "d", {0, 0, 0, 1, 0}, {0}, 1},
    {OP_vcmp, 0, "s", {0, 0, 0, 0, 1}, {0}, 1},
    {OP_vmac, ACCUMULATE, "s", {1}, {0}, 1},
    {OP_vadd, ACCUMULATE, "s", {0, 2}, {0}, 1},
    {OP_vsub, ACCUMULATE, "s", {0, 1, 1}, {0}, 1},
    {OP_vdiv, ACCUMULATE, "d", {0, 1, 0, 1, 0}, {0}, 1},
    {OP_vcmp, ACCUMULATE, "s", {0, 0, 0, 0, 2}, {0}, 1},
    {OP_vout, 0, "s", {0}, {0}, 0},
    {OP_vact, 0, "s", {1, 0, 1}, {0}, 1},
    {OP_vnorm, 0, "s", {1}, {0}, 1},
    {OP_vmean, 0, "sf/", {0, 1}, {0, 0, 0, 1, 0}, 1},
    {OP_vmean, SUMS, "sf/", {0, 1}, {0, 0, 0, 1, 0}, 1},
    {OP_vvar, 0, "sf//", {1, 0, 1}, {0, 0, 0, 2}, 1},
    {OP_vvar, SUMS, "sfsf***//", {0, 2}, {3, 0, 0, 2}, 1},
    {OP_vsoftmax, 0, "sfsfd", {2, 1, 2, 1, 1}, {0}, 3},
};

static void walk_steps(const char *steps, uint64_t elements, uint64_t lanes, uint64_t div_cycles,
                       struct lanes_cost *cost)
{
    for (const char *step = steps; *step != 0; ++step) {
        for (uint64_t taken = 0; taken < elements && (*step == 's' || *step == 'd'); taken += lanes) {
            ++cost->beats;
            cost->cycles += *step == 'd' ? 1u + div_cycles : 1u;
        }
        for (uint64_t left = lanes; left > 1u && *step == 'f'; left = left / 2u + left % 2u)
            ++cost->cycles;
        cost->cycles += *step == '/' ? 1u + div_cycles : *step == '*';
    }
}

static struct lanes_cost walk(const struct steps *of, const struct lanes_shape *shape, uint64_t count, uint64_t repeat)
{
    struct lanes_cost cost = {.cycles = shape->pipeline, .elements = count * repeat};
    const int shared = (of->opcode == OP_vnorm && shape->units > 1u) || of->opcode > OP_vnorm;
    const int alone = of->status == ACCUMULATE && of->opcode <= OP_vcmp; /* each repetition begins at lane 0 */
    if (shared || alone)
        for (uint64_t o = 0; o < repeat; o += shared ? shape->units : 1u)
            walk_steps(of->steps, count, shape->lanes, shape->div_cycles, &cost);
    else
        walk_steps(of->steps, count * repeat, shape->lanes * (of->opcode == OP_vact ? shape->units : 1u),
                   shape->div_cycles, &cost);
    for (uint32_t i = 0; i < LANES_OPERATORS; ++i)
        cost.operations[i] = repeat * (count * of->of_element[i] + of->of_repetition[i]);
    return cost;
}

/* Words of an operand: an element is at its lane already where it is the one before, or that of the repetition before
 * if that has no more elements than there are lanes. */
static uint64_t words_read(const struct vector_tile *t, uint64_t lanes, int32_t stride, int32_t by_repetition,
                           uint32_t words)
{
    const int stays = stride == 0 || t->count <= lanes;
    uint64_t sum = 0;
    for (uint32_t o = 0; o < t->repeat; ++o)
        for (uint32_t i = 0; i < t->count; ++i)
            sum += (i == 0 || stride != 0) && (o == 0 || by_repetition != 0 || !stays) ? words : 0;
    return sum;
}

static void check_steps(uint64_t *random, const struct steps *of)
{
    static const uint64_t lanes[] = {1, 2, 3, 7, 16, 100, 256};
    const struct lanes_shape shape = {
        lanes[between(random, 0, 6)], between(random, 1, 9), between(random, 0, 5), between(random, 0, 12), 0};
    struct vector_tile t = {
        .count = between(random, 1, between(random, 0, 3) == 0 ? 1000 : 40),
        .repeat = between(random, 1, 20),
        .a_stride = (int32_t)between(random, 0, 2),
        .b_stride = (int32_t)between(random, 0, 1),
        .b_repeat = (int32_t)between(random, 0, 1),
        .c_repeat = (int32_t)between(random, 0, 1),
        .immediate = 5};
    if (of->opcode == OP_vout) {
        t.count = (uint32_t)cnnvp_minimum(t.count, shape.lanes);
        t.repeat = 1;
    }
    if (of->status == SCALE) {
        t.c_addr = (uint32_t)(t.c_repeat = t.immediate = 0x3f800000);
        t.format = FORMAT(0, 0, 1);
    }
    const int sums = of->status == SUMS && of->opcode >= OP_vmean;
    const int by_repetition = of->opcode == OP_vvar || of->opcode == OP_vnorm;
    if (sums)
        t.b_stride = 5;
    t.a_repeat = between(random, 0, 3) == 0 ? 0 : (int32_t)(2u * t.count + between(random, 0, 1));
    t.out_repeat = (int32_t)t.count;
    struct cnnvp_command command = {
        .opcode = of->opcode, .status = of->status | STORE * (of->opcode <= OP_vcmp), .count = 16};
    const int of_sums = of->opcode == OP_vdiv && of->status == SCALE;
    command.status |= of_sums ? B(IMM) : of->status == SCALE ? B(WT) : 0;
    command.status |= sums ? WIDE : 0;
    memcpy(command.descriptor, &t, sizeof t);
    struct lanes_job job;
    struct lanes_cost cost;
    const char *error = lanes_decode(&command, shape.lanes, &job);
    if (error != NULL)
        fail_msg("opcode 0x%02x: %s", command.opcode, error);
    lanes_cost(&job, &shape, &cost);
    struct lanes_cost expected = walk(of, &shape, t.count, t.repeat);
    if (of->status == SCALE) { /* a stage each for product and rounding, two for sum and quotient */
        expected.cycles += 6u;
        expected.fp32 = of->opcode == OP_vdiv ? expected.elements : 2u * expected.elements;
    }
    if (of->opcode == OP_vnorm && t.b_stride != 0) /* the zero point of a */
        expected.operations[LANES_sub] = t.count * t.repeat;
    if (memcmp(&cost, &expected, sizeof cost) != 0)
        print_error("opcode 0x%02x, %u x %u on %u x %u lanes\n", of->opcode, t.repeat, t.count, (unsigned)shape.units,
                    (unsigned)shape.lanes);
    assert_memory_equal(&cost, &expected, sizeof cost);
    assert_int_equal(job.a.words, of->reads_a * words_read(&t, shape.lanes, t.a_stride, t.a_repeat, sums ? 4 : 1));
    if (of_sums)
        assert_int_equal(job.b.words, 0);
    else if (of->opcode <= OP_vcmp || by_repetition)
        assert_int_equal(job.b.words, words_read(&t, shape.lanes, by_repetition ? 0 : t.b_stride, t.b_repeat, 1));
    else
        assert_int_equal(job.b.words, of->opcode == OP_vact ? 4u + 2u * t.count * t.repeat : 0);
    assert_int_equal(job.out.words, of->opcode == OP_vnorm                            ? 0
                                    : of->opcode == OP_vmean || of->opcode == OP_vvar ? t.repeat
                                                                                      : t.count * t.repeat);
}

static void test_steps(void **state)
{
    uint64_t random = 21;
    (void)state;
    for (int n = 0; n < 200; ++n)
        for (size_t i = 0; i < sizeof all_steps / sizeof all_steps[0]; ++i)
            check_steps(&random, &all_steps[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
