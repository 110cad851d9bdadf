/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions that the guest software pushes for chains: which layer on which block, from where, to where, in the
 * order of S004. The guest runs on a machine that only notes the words.
 */
#include <unistd.h>

#include "test.h"

#include "binary_internal.h"

#include "binary.h"
#include "fake_element.h"
#include "fake_platform.h"
#include "random.h"
#include "guest.h"
#include "network.h"
#include "pipeline.h"
#include "steps.h"

#define MEMORY ((size_t)32 << 20)

/* ---- what is seen ---- */

/* One calculation, and where its results went. */
struct seen {
    uint32_t opcode;
    uint32_t tag;
    uint32_t chip_half; /* of a move's destination */
    uint32_t chip_address;
    uint32_t memory_address; /* of a store */
    int moved;
};

struct view {
    uint32_t registers[256];
    uint32_t tag;
    uint32_t loads[4096]; /* memory addresses of blocks of feature 0 */
    uint32_t load_count;
    uint32_t emitted[4096]; /* and of blocks that were gathered and stored from the input buffer */
    uint32_t emitted_count;
    struct seen steps[16384];
    uint32_t count;
};

enum { MEMORY_ADDR, BUFFER_ADDR }; /* of a transfer */

static void look_at(struct view *view, const struct cnnvp_word *word)
{
    const uint32_t opcode = word->high >> 24;
    const uint32_t status = word->high >> 16 & 0xffu;
    const uint32_t *descriptor = &view->registers[word->high >> 8 & 0xffu];
    struct seen *last = view->count != 0 ? &view->steps[view->count - 1] : NULL;
    switch (opcode) {
    case CNNVP_OPCODE_set:
        view->registers[word->high >> 8 & 0xffu] = word->low;
        break;
    case CNNVP_OPCODE_layer:
        view->tag = word->low;
        break;
    case CNNVP_OPCODE_request:
        if ((status & 3u) == CNNVP_BUFFER_INPUT)
            view->loads[view->load_count++] = descriptor[MEMORY_ADDR];
        break;
    case CNNVP_OPCODE_conv:
    case CNNVP_OPCODE_pool:
    case CNNVP_OPCODE_vconv:
    case CNNVP_OPCODE_vpool:
        view->steps[view->count++] = (struct seen){.opcode = opcode, .tag = view->tag};
        break;
    case CNNVP_OPCODE_move:
        assert_non_null(last);
        last->moved = 1;
        last->chip_half = word->high & 1u;
        last->chip_address = descriptor[BUFFER_ADDR];
        break;
    case CNNVP_OPCODE_store:
        assert_non_null(last);
        if ((status & 3u) == CNNVP_BUFFER_OUTPUT)
            last->memory_address = descriptor[MEMORY_ADDR];
        else
            view->emitted[view->emitted_count++] = descriptor[MEMORY_ADDR];
        break;
    default:
        break;
    }
}

/* ---- against the recursion ---- */

static uint32_t address_of(const struct cnnvp_tensor *tensor, uint32_t row, uint32_t column)
{
    return tensor->address + 2u * (row * tensor->row_stride + column);
}

static void check(const struct view *view, const struct cnnvp_build *build, const struct steps *steps)
{
    static const uint32_t opcodes[2][2] = {
        {CNNVP_OPCODE_conv, CNNVP_OPCODE_pool}, {CNNVP_OPCODE_vconv, CNNVP_OPCODE_vpool}};
    const struct cnnvp_groups *groups = build->groups;
    const struct cnnvp_tensor *in = &build->layers[0].in;
    const struct cnnvp_tensor *out = &build->layers[groups->member_count - 1].out;
    uint32_t loads = 0;
    uint32_t emitted = 0;
    assert_int_equal(view->count, steps->count);
    for (uint32_t i = 0; i < steps->count; ++i) {
        const struct step *step = &steps->all[i];
        const struct seen *seen = &view->steps[i];
        const struct cnnvp_layer *plan = &((const struct cnnvp_binary_layer *)groups->members)[step->layer].plan;
        const struct cnnvp_binary_level *from = &groups->levels[step->layer];
        const struct cnnvp_binary_level *to = &groups->levels[step->layer + 1];
        const int ready = step->gathered == step->target;
        assert_int_equal(seen->tag, step->layer + 1);
        assert_int_equal(seen->opcode, opcodes[plan->unit == CNNVP_UNIT_VECTOR][plan->op == CNNVP_OP_POOL]);
        if (step->layer == 0)
            assert_int_equal(view->loads[loads++],
                             address_of(in, step->y * from->block.height, step->x * from->block.width));
        assert_int_equal(seen->moved, to->on_chip);
        const uint32_t row = step->next_y * to->block.height;
        const uint32_t column = step->next_x * to->block.width;
        if (!to->on_chip) {
            assert_int_equal(seen->memory_address, address_of(out, row, column));
            continue;
        }
        assert_int_equal(seen->chip_half, to->block.chip_half);
        assert_int_equal(seen->chip_address,
                         to->block.chip_address + 2u * ((to->block.border_top + step->row) * to->block.row_stride +
                                                        to->block.border_left + step->column));
        if (ready && step->layer + 1 == groups->member_count)
            assert_int_equal(view->emitted[emitted++], address_of(out, row, column));
    }
    assert_int_equal(view->load_count, loads);
    assert_int_equal(view->emitted_count, emitted);
}

/* Compiles the chain, runs the guest on it, and compares what it pushes with the recursion. */
static void run_case(const struct chain *chain, uint32_t block, const char *plan)
{
    static struct view view;
    static struct cnnvp_guest guest;
    const struct fake_config config = fake_nfu();
    const struct cnnvp_network_options options = {
        .struct_size = sizeof options,
        .schedule = CNNVP_SCHEDULE_DEPTH_FIRST,
        .block = block,
        .plan = plan,
        .images = 1};
    struct cnnvp_error error = {""};
    cnnvp_network *network = NULL;
    char file[64];
    chain_write(chain, file);
    if (fake_network_new(file, &config, &options, &network, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    cnnvp_platform *platform = fake_platform_new(MEMORY);
    assert_int_equal(cnnvp_network_load(network, platform, &error), CNNVP_DONE);
    struct fake_element element = {.memory = platform->memory};
    const struct cnnvp_machine machine = fake_element_machine(&element);
    assert_int_equal(cnnvp_guest_init(&guest, &machine, NULL), 0);
    assert_int_equal(cnnvp_guest_run(&guest), 0);

    memset(&view, 0, sizeof view);
    for (size_t i = 0; i < element.count; ++i)
        look_at(&view, &element.words[i]);
    struct steps steps = steps_of(chain, block);
    assert_int_equal(network->build.groups->count, 1);
    check(&view, &network->build, &steps);

    free(steps.all);
    free(element.words);
    fake_platform_free(platform);
    cnnvp_network_free(network);
    (void)unlink(file);
}

static void worked_case_has_the_reference_order(void **state)
{
    (void)state;
    const struct chain chain = chain_worked(1);
    struct steps steps = steps_of(&chain, 4);
    FILE *file = fopen(TEST_DATA "/depth_first_16x16_b4.txt", "r");
    char line[80];
    uint32_t count = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        const struct step *step = &steps.all[count];
        char text[96];
        assert_true(count < steps.count);
        int length =
            snprintf(text, sizeof text, "%u f%u(%u, %u) %s f%u(%u, %u)", count + 1, step->layer, step->x, step->y,
                     chain.layers[step->layer].pool ? "pool" : "conv", step->layer + 1, step->next_x, step->next_y);
        if (chain.layers[step->layer].pool)
            (void)snprintf(text + length, sizeof text - (size_t)length, " part %u/%u", step->gathered, step->target);
        line[strcspn(line, "\n")] = '\0';
        assert_string_equal(line, text);
        ++count;
    }
    (void)fclose(file);
    assert_int_equal(count, 40);
    assert_int_equal(steps.count, 40);
    assert_int_equal(steps.peak_words, 56);
    free(steps.all);
    run_case(&chain, 4, NULL);
    run_case(&chain, 4, TEST_DATA "/plans/table.yaml");
}

static void random_chains_have_the_recursions_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 150; ++seed) {
        uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15);
        const uint32_t block = 1u << below(&random, 5);
        struct chain chain = chain_random(random, block);
        chain.head = 0;
        chain.outputs = 0;
        run_case(&chain, block, below(&random, 2) ? TEST_DATA "/plans/table.yaml" : NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_case_has_the_reference_order),
        cmocka_unit_test(random_chains_have_the_recursions_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
