/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include "cnnvp_buffer.h"
#include "cnnvp_tile.h"
#include "units.h"
#include "training/multi_function/multi_function.h"

#include "test.h"

static const struct cnnvp_unit *const kinds[M_INSTANCES] = {
    [M_ARRAY] = &cnnvp_unit_train_array,
    [M_INPUT] = &cnnvp_unit_buffer,
    [M_WEIGHT] = &cnnvp_unit_buffer,
    [M_INTERMEDIATE] = &cnnvp_unit_buffer,
    [M_MODULE] = &cnnvp_unit_multi_function,
    [M_STATISTICS] = &cnnvp_unit_statistics,
    [M_SUM] = &cnnvp_unit_sum,
    [M_NORM] = &cnnvp_unit_batch_norm,
    [M_RELU] = &cnnvp_unit_relu,
    [M_QUANTISE] = &cnnvp_unit_quantise,
    [M_POOL] = &cnnvp_unit_max_pool,
    [M_ENCODE] = &cnnvp_unit_encode,
    [M_POOL_BACK] = &cnnvp_unit_max_pool_back,
    [M_RELU_BACK] = &cnnvp_unit_relu_back,
    [M_UPDATE] = &cnnvp_unit_update,
    [M_BN_UPDATE] = &cnnvp_unit_bn_update,
    [M_SOFTMAX] = &cnnvp_unit_softmax,
    [M_MAX_MIN] = &cnnvp_unit_buffer,
    [M_SUMS] = &cnnvp_unit_buffer,
    [M_NORMS] = &cnnvp_unit_buffer,
    [M_MASK] = &cnnvp_unit_buffer,
    [M_IDS] = &cnnvp_unit_buffer,
    [M_OUTPUT] = &cnnvp_unit_buffer,
};

static const struct {
    enum machine_instance from;
    const char *port;
    enum machine_instance to;
    const char *to_port;
} wires[] = {
    {M_ARRAY, "input", M_INPUT, "port"},
    {M_ARRAY, "weight", M_WEIGHT, "port"},
    {M_ARRAY, "output", M_INTERMEDIATE, "port"},
    {M_ARRAY, "scales", M_MAX_MIN, "port"},
    {M_MODULE, "output", M_INTERMEDIATE, "port"},
    {M_MODULE, "max_min_buffer", M_MAX_MIN, "port"},
    {M_MODULE, "sum_buffer", M_SUMS, "port"},
    {M_MODULE, "batch_norm_buffer", M_NORMS, "port"},
    {M_MODULE, "relu_buffer", M_MASK, "port"},
    {M_MODULE, "id_buffer", M_IDS, "port"},
    {M_MODULE, "output_data_buffer", M_OUTPUT, "port"},
    {M_MODULE, "statistics", M_STATISTICS, "tile"},
    {M_MODULE, "batch_norm", M_NORM, "tile"},
    {M_MODULE, "max_pool_back", M_POOL_BACK, "tile"},
    {M_MODULE, "encode", M_ENCODE, "tile"},
    {M_MODULE, "quantise", M_QUANTISE, "tile"},
    {M_MODULE, "softmax", M_SOFTMAX, "tile"},
    {M_MODULE, "update", M_UPDATE, "tile"},
    {M_MODULE, "bn_update", M_BN_UPDATE, "tile"},
    {M_STATISTICS, "buffer", M_MAX_MIN, "port"},
    {M_STATISTICS, "sum", M_SUM, "tile"},
    {M_SUM, "buffer", M_SUMS, "port"},
    {M_NORM, "buffer", M_NORMS, "port"},
    {M_NORM, "max_min", M_MAX_MIN, "port"},
    {M_NORM, "sum", M_SUMS, "port"},
    {M_NORM, "next", M_RELU, "tile"},
    {M_NORM, "back", M_QUANTISE, "tile"},
    {M_NORM, "statistics", M_STATISTICS, "tile"},
    {M_RELU, "buffer", M_MASK, "port"},
    {M_RELU, "next", M_QUANTISE, "tile"},
    {M_QUANTISE, "max_min", M_MAX_MIN, "port"},
    {M_QUANTISE, "norm", M_NORMS, "port"},
    {M_QUANTISE, "next", M_POOL, "tile"},
    {M_QUANTISE, "statistics", M_STATISTICS, "tile"},
    {M_POOL, "buffer", M_IDS, "port"},
    {M_POOL, "next", M_ENCODE, "tile"},
    {M_ENCODE, "relu", M_MASK, "port"},
    {M_ENCODE, "id", M_IDS, "port"},
    {M_POOL_BACK, "buffer", M_IDS, "port"},
    {M_POOL_BACK, "next", M_RELU_BACK, "tile"},
    {M_RELU_BACK, "buffer", M_MASK, "port"},
    {M_RELU_BACK, "next", M_NORM, "tile"},
    {M_UPDATE, "statistics", M_STATISTICS, "tile"},
    {M_BN_UPDATE, "buffer", M_NORMS, "port"},
    {M_SOFTMAX, "output", M_OUTPUT, "port"},
    {M_SOFTMAX, "statistics", M_STATISTICS, "tile"},
};

void machine_begin(struct machine *machine, const struct machine_options *options)
{
    memset(machine, 0, sizeof *machine);
    fake_sim_init(&machine->sim, 200, 0, 0);
    machine->sim.timing_only = options->timing_only;
    for (unsigned i = 0; i < M_INSTANCES; ++i)
        machine->units[i] = fake_add(&machine->sim, kinds[i]);
    for (size_t i = 0; i < sizeof wires / sizeof wires[0]; ++i)
        fake_connect(machine->units[wires[i].from], wires[i].port, machine->units[wires[i].to], wires[i].to_port);
    fake_set(machine->units[M_ARRAY], "mantissa_bits", options->bits);
    fake_set(machine->units[M_ENCODE], "positions", options->staged);
    fake_set(machine->units[M_MODULE], "sets", options->sets != 0 ? options->sets : 4u);
    fake_set(machine->units[M_MODULE], "lanes", options->lanes != 0 ? options->lanes : 1u);
    for (unsigned i = M_INPUT; i <= M_INTERMEDIATE; ++i) {
        fake_set(machine->units[i], "size", 2u * MACHINE_HALF);
        fake_set(machine->units[i], "width_words", options->width_words != 0 ? options->width_words : 8192u);
        fake_set(machine->units[i], "banks", options->banks != 0 ? options->banks : 1024u);
    }
    for (unsigned i = M_MAX_MIN; i <= M_OUTPUT; ++i) {
        fake_set(machine->units[i], "pingpong", 0);
        fake_set(machine->units[i], "size", 1u << 16);
        fake_set(machine->units[i], "width_words", options->held_words != 0 ? options->held_words : 65536u);
        fake_set(machine->units[i], "banks", options->held_banks != 0 ? options->held_banks : 1024u);
        fake_set(machine->units[i], "latency", options->held_latency);
    }
    for (unsigned i = M_INPUT; i <= M_OUTPUT; ++i)
        if (i <= M_INTERMEDIATE || i >= M_MAX_MIN)
            fake_set(machine->units[i], "line_words",
                     (i <= M_INTERMEDIATE ? options->banks : options->held_banks) != 0 ? 2u : 256u);
    for (unsigned i = 0; i < M_INSTANCES; ++i)
        assert_int_equal(fake_start(machine->units[i]), CNNVP_OK);
}

void machine_end(struct machine *machine)
{
    fake_sim_free(&machine->sim);
}

void *machine_at(struct machine *machine, enum machine_instance buffer, uint32_t half, uint32_t address)
{
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_WRITE, .flags = CNNVP_DEBUG, .size = 2, .address = (uint64_t)half << 31 | address};
    assert_int_equal(fake_access(machine->units[buffer], "port", &access), CNNVP_OK);
    return access.data;
}

int machine_try(struct machine *machine, uint32_t opcode, uint32_t status, uint32_t halves, const void *registers,
                size_t size)
{
    struct cnnvp_command command = {
        .opcode = opcode,
        .status = status,
        .halves = halves,
        .tag = 1,
        .count = (uint32_t)(size / sizeof(uint32_t)),
        .sequence = ++machine->sequence};
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = &command, .size = sizeof command, .tag = 1};
    assert_true(size <= sizeof command.descriptor);
    memcpy(command.descriptor, registers, size);
    const int result = fake_access(machine->units[opcode < OP_tstat ? M_ARRAY : M_MODULE], "command", &access);
    machine->delay = access.delay;
    for (unsigned i = 0; i < M_INSTANCES; ++i)
        if (machine->units[i]->span_count > FAKE_SPANS / 2)
            machine->units[i]->span_count = 0;
    fake_run(&machine->sim, machine->sim.now + access.delay);
    return result;
}

void machine_do(struct machine *machine, uint32_t opcode, uint32_t status, const void *registers, size_t size)
{
    const int result = machine_try(machine, opcode, status, 0, registers, size);
    if (result != CNNVP_OK)
        print_error("opcode 0x%x, status %d: %s\n", opcode, result,
                    machine->units[opcode < OP_tstat ? M_ARRAY : M_MODULE]->message);
    assert_int_equal(result, CNNVP_OK);
}
