/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs on the instruction element against a cycle-by-cycle reference, and against itself with and without
 * working ahead of time. */

#include "test.h"

#include "control/instruction/element.h"
#include "reference.h"
#include "rig.h"
#include "random.h"

#define CYCLES 40000u

static void put(struct reference_program *program, uint64_t word)
{
    program->words[program->count++] = word;
}

static uint64_t random_tile(uint64_t *random)
{
    static const enum isa_code codes[] = {ISA_conv,    ISA_pool,    ISA_matmul, ISA_vmac, ISA_vpool, ISA_vconv,
                                          ISA_request, ISA_receive, ISA_store,  ISA_move, ISA_fill,  ISA_live};
    const enum isa_code code = codes[below(random, sizeof codes / sizeof codes[0])];
    uint32_t status = 0;
    if (code == ISA_vmac)
        status = below(random, 64);
    else if (code >= ISA_request && code <= ISA_live)
        status = below(random, 3) | (code == ISA_move ? below(random, 3) << 2 : 0u);
    const uint32_t pends = below(random, 2) ? PENDS : 0;
    const uint32_t takes = below(random, 4) ? below(random, 40) : below(random, 400);
    return w_tile(code, status, below(random, 200), below(random, 8), TAKES(takes) | pends);
}

static uint64_t random_data(uint64_t *random)
{
    const uint32_t rd = below(random, 200);
    const uint32_t ra = below(random, 200);
    const uint32_t rb = below(random, 200);
    switch (below(random, 6)) {
    case 0:
        return w_ri(ISA_set, rd, below(random, 1000));
    case 1:
        return w_rr(ISA_mov, rd, ra);
    case 2:
        return w_rri(ISA_addi, rd, ra, (uint32_t)-5);
    case 3:
        return w_rrr(ISA_add, rd, ra, rb);
    case 4:
        return w_rrr(ISA_sub, rd, ra, rb);
    default:
        return w_rrr(ISA_mul, rd, ra, rb);
    }
}

/* `room`: words that may be written. Loops count in r200 + depth. */
static void random_block(struct reference_program *program, uint64_t *random, uint32_t room, uint32_t depth)
{
    static const enum isa_code branches[] = {ISA_beq, ISA_bne, ISA_blt, ISA_bge};
    const uint32_t end = program->count + room;
    while (program->count < end) {
        const uint32_t left = end - program->count;
        const uint32_t kind = below(random, 20);
        if (kind == 0 && depth < 4 && left > 3) {
            const uint32_t body = 1u + below(random, left - 2u < 12u ? left - 2u : 12u);
            put(program, w_ri(ISA_set, 200 + depth, below(random, 4)));
            put(program, w_ri(ISA_loop, 200 + depth, body));
            random_block(program, random, body, depth + 1);
        } else if (kind == 1 && depth > 0 && left > 3) {
            put(program, w_ri(ISA_set, 210, 1u + below(random, 3)));
            put(program, w_rri(ISA_addi, 210, 210, (uint32_t)-1));
            put(program, w_branch(ISA_blt, 255, 210, -1));
        } else if (kind < 4) {
            /* over a straight piece: a jump into a loop's body would leave its branches without a loop */
            const uint32_t skipped = below(random, left < 6 ? left : 6);
            if (kind == 2)
                put(program,
                    w_branch(branches[below(random, 4)], below(random, 200), below(random, 200), 1 + (int32_t)skipped));
            else
                put(program, w_imm(ISA_jump, 1u + skipped));
            for (uint32_t i = 0; i < skipped; ++i)
                put(program, below(random, 2) ? random_data(random) : random_tile(random));
        } else if (kind == 4) {
            put(program, w_imm(ISA_layer, below(random, 5)));
        } else if (kind == 5) {
            put(program, below(random, 2) ? w_none(ISA_sync) : w_imm(ISA_irq, 7));
        } else if (kind < 12) {
            put(program, random_data(random));
        } else {
            put(program, random_tile(random));
        }
    }
}

static struct reference_program *random_program(uint64_t seed)
{
    uint64_t random = seed;
    struct reference_program *program = calloc(1, sizeof *program);
    assert_non_null(program);
    (void)below(&random, 2);
    program->queue_depth = 16u + below(&random, 3) * 24u;
    program->sequence_depth = 1u + below(&random, 6);
    program->strict = below(&random, 5) == 0;
    random_block(program, &random, 20u + below(&random, 120), 0);
    return program;
}

static struct rig *rig_for(const struct reference_program *program, uint64_t mhz)
{
    struct rig *rig = rig_new(mhz);
    fake_set(rig->element, "queue_depth", program->queue_depth);
    fake_set(rig->element, "sequence_depth", program->sequence_depth);
    fake_set(rig->element, "order", (uint64_t)program->strict);
    rig_start(rig);
    return rig;
}

static void check_result(struct rig *rig, const struct reference_program *program,
                         const struct reference_result *expected)
{
    static const char *const stats[CAUSES] = {"stall_cycles_vector", "stall_cycles_input",       "stall_cycles_weight",
                                              "stall_cycles_output", "stall_cycles_instruction", "stall_cycles_host"};
    const struct element *element = rig->element->self;
    uint64_t sum = 0;
    assert_int_equal(rig->count, expected->tiles);
    for (uint32_t i = 0; i < rig->count; ++i)
        assert_int_equal(rig->commands[i].cycle, expected->issue[i]);
    for (uint32_t i = 0; i < 256; ++i)
        sum += (uint64_t)element->r[i] * (i + 1u);
    assert_int_equal(sum, expected->registers_sum);
    assert_int_equal(fake_count(rig->element, "instructions"), expected->instructions);
    uint64_t idle = 0;
    for (uint32_t cause = 0; cause < CAUSES; ++cause) {
        idle += expected->stall[0][cause];
        for (uint32_t tag = 1; tag < 5; ++tag)
            assert_int_equal(fake_tag_count(rig->element, stats[cause], tag), expected->stall[tag][cause]);
    }
    assert_int_equal(fake_count(rig->element, "idle_cycles"), idle);
    /* every cycle from the first doorbell to the last completion, once */
    assert_int_equal(rig_accounted(rig) + expected->array_cycles, expected->last - program->pushed[0]);
    assert_int_equal(fake_count(rig->element, "errors"), 0);
}

static void test_against_reference(void **state)
{
    (void)state;
    static uint32_t room[CYCLES], pc[CYCLES], completed[CYCLES];
    static uint32_t seen_room[CYCLES], seen_pc[CYCLES], seen_completed[CYCLES];
    static struct reference_result expected;
    for (uint64_t seed = 1; seed <= 300; ++seed) {
        struct reference_program *program = random_program(seed);
        uint64_t random = seed * 77u;
        struct rig *rig = rig_for(program, seed % 3 ? 1000 : 333);
        uint32_t pushed = 0;
        uint64_t pause = 2;
        uint64_t cycle = 0;
        for (; cycle < CYCLES; ++cycle) {
            rig_to(rig, cycle + 1u); /* reference cycle c is the rig's c + 1: cycle 0 is spent starting */
            while (pushed < program->count && !pause && fake_read(rig->element, "FREE")) {
                rig_push(rig, program->words[pushed]);
                program->pushed[pushed++] = cycle + 1u;
                pause = below(&random, 4) ? below(&random, 3) : below(&random, 100);
            }
            pause -= pause > 0;
            seen_room[cycle] = fake_read(rig->element, "FREE");
            seen_pc[cycle] = fake_read(rig->element, "PC");
            seen_completed[cycle] = fake_read(rig->element, "COMPLETED");
            if (pushed == program->count && !(fake_read(rig->element, "STATUS") & 1u))
                break;
        }
        assert_true(cycle < CYCLES);
        assert_int_equal(pushed, program->count);
        rig_finish(rig, cycle + 1000u);
        expected = (struct reference_result){.room = room, .pc = pc, .completed = completed};
        reference_run(program, cycle + 2u, &expected);
        for (uint64_t c = 0; c <= cycle; ++c) {
            assert_int_equal(seen_room[c], room[c + 1u]);
            assert_int_equal(seen_pc[c], pc[c + 1u]);
            assert_int_equal(seen_completed[c], completed[c + 1u]);
        }
        check_result(rig, program, &expected);
        rig_free(rig);

        /* the same pushes without anybody looking: work is done far ahead; and with something else every cycle: never
         */
        for (int every_cycle = 0; every_cycle < 2; ++every_cycle) {
            rig = rig_for(program, 1000);
            rig->every_cycle = every_cycle;
            for (uint32_t i = 0; i < program->count; ++i) {
                if (program->pushed[i] != rig_cycle(rig))
                    rig_to(rig, program->pushed[i]);
                rig_push(rig, program->words[i]);
            }
            rig_finish(rig, cycle + 1000u);
            check_result(rig, program, &expected);
            rig_free(rig);
        }
        free(program);
    }
}

/* Runs a program that lies in memory. */
static struct rig *run_in_memory(const struct reference_program *program, int every_cycle)
{
    struct rig *rig = rig_for(program, 1000);
    rig->every_cycle = every_cycle;
    rig->sim.memory_latency = 50000;
    for (uint32_t i = 0; i < program->count; ++i)
        for (uint32_t byte = 0; byte < 8; ++byte)
            rig->sim.memory[i * 8u + byte] = (uint8_t)(program->words[i] >> (8u * byte));
    (void)fake_write(rig->element, "FETCH_ADDR", RIG_MEMORY);
    (void)fake_write(rig->element, "FETCH_WORDS", program->count);
    rig_finish(rig, CYCLES);
    return rig;
}

/* Words read from memory instead of pushed: the same instructions execute, at the same times however often others
 * interrupt, and every cycle is accounted for. */
static void test_program_in_memory(void **state)
{
    (void)state;
    static struct reference_result expected;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        struct reference_program *program = random_program(seed);
        struct rig *rig = run_in_memory(program, 0);
        struct rig *paced = run_in_memory(program, 1);
        reference_run(program, CYCLES, &expected);
        assert_int_equal(fake_count(rig->element, "errors"), 0);
        assert_int_equal(fake_count(rig->element, "fetched_words"), program->count);
        assert_int_equal(fake_read(rig->element, "FETCH_WORDS"), 0);
        assert_int_equal(fake_read(rig->element, "STATUS") & 1u, 0);
        assert_int_equal(fake_count(rig->element, "instructions"), expected.instructions);
        assert_int_equal(rig->count, expected.tiles);
        assert_int_equal(paced->count, rig->count);
        for (uint32_t i = 0; i < rig->count; ++i)
            assert_int_equal(rig->commands[i].cycle, paced->commands[i].cycle);
        assert_memory_equal(rig->element->counts, paced->element->counts, sizeof rig->element->counts);
        assert_memory_equal(rig->element->tag_counts, paced->element->tag_counts, sizeof rig->element->tag_counts);
        assert_int_equal(rig->sim.record_count, paced->sim.record_count);
        for (uint32_t i = 0; i < rig->sim.record_count; ++i)
            assert_int_equal(rig->sim.records[i].issued, paced->sim.records[i].issued);
        rig_free(rig);
        rig_free(paced);
        free(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_program_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
