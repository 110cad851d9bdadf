/* SPDX-License-Identifier: Apache-2.0 */
/* A test rig with an FX16 array between real buffers (array_rig.h). */
#include "array_rig.h"

#include "cnnvp_buffer.h"
#include "units.h"

#include "test.h"

void array_rig_begin(struct array_rig *rig, const struct cnnvp_unit *unit, uint64_t mhz, int timing_only)
{
    fake_sim_init(&rig->sim, mhz, 0, 0);
    rig->sim.timing_only = timing_only;
    rig->array = fake_add(&rig->sim, unit);
    rig->input = fake_add(&rig->sim, &cnnvp_unit_buffer);
    rig->weight = fake_add(&rig->sim, &cnnvp_unit_buffer);
    rig->output = fake_add(&rig->sim, &cnnvp_unit_buffer);
    fake_connect(rig->array, "input", rig->input, "port");
    fake_connect(rig->array, "weight", rig->weight, "port");
    fake_connect(rig->array, "output", rig->output, "port");
}

void array_rig_start(struct array_rig *rig)
{
    assert_int_equal(fake_start(rig->input), CNNVP_OK);
    assert_int_equal(fake_start(rig->weight), CNNVP_OK);
    assert_int_equal(fake_start(rig->output), CNNVP_OK);
    assert_int_equal(fake_start(rig->array), CNNVP_OK);
}

void array_rig_start_lanes(struct array_rig *rig, const struct cnnvp_unit *unit, const struct array_rig_lanes *lanes)
{
    array_rig_begin(rig, unit, 1000, lanes->timing_only);
    fake_set(rig->array, "input_para", lanes->units);
    fake_set(rig->array, "fc_para", lanes->lanes);
    array_rig_start(rig);
}

void array_rig_end(struct array_rig *rig)
{
    fake_sim_free(&rig->sim);
}

void *array_rig_peek(struct cnnvp_host *buffer, uint32_t half, uint32_t address, uint64_t size)
{
    struct cnnvp_access access = {.op = CNNVP_BORROW_WRITE,
                                  .flags = CNNVP_DEBUG,
                                  .size = size,
                                  .address = (uint64_t)address | (uint64_t)half << 31};
    assert_int_equal(fake_access(buffer, "port", &access), CNNVP_OK);
    return access.data;
}

void array_rig_poke(struct cnnvp_host *buffer, uint32_t half, uint32_t address, const int16_t *words, uint64_t count)
{
    memcpy(array_rig_peek(buffer, half, address, count * 2u), words, count * 2u);
}

int array_rig_send(struct array_rig *rig, struct cnnvp_command *command, cnnvp_time *delay)
{
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = command, .size = sizeof *command, .tag = command->tag};
    const int status = fake_access(rig->array, "command", &access);
    fake_run(&rig->sim, rig->sim.now + access.delay);
    if (delay != NULL)
        *delay = access.delay;
    return status;
}

struct cnnvp_command array_rig_command(uint32_t opcode, uint32_t status, const void *registers, size_t size)
{
    struct cnnvp_command command = {
        .opcode = opcode, .status = status, .tag = 1, .count = (uint32_t)(size / sizeof(uint32_t))};
    assert_true(size <= sizeof command.descriptor);
    memcpy(command.descriptor, registers, size);
    return command;
}

uint64_t array_rig_do(struct array_rig *rig, struct cnnvp_command command)
{
    const cnnvp_time begin = rig->sim.now;
    cnnvp_time delay = 0;
    const int status = array_rig_send(rig, &command, &delay);
    if (status != CNNVP_OK)
        fail_msg("status %d: %s", status, rig->array->message);
    return cnnvp_delay_cycles(rig->sim.clock_mhz, begin, delay);
}

static uint64_t port_words(const struct array_rig *rig)
{
    return fake_count(rig->input, "calculation_port_words") + fake_count(rig->weight, "calculation_port_words") +
           fake_count(rig->output, "calculation_port_words");
}

void array_rig_check_refused(struct array_rig *rig, struct cnnvp_command command, int expected, const char *why)
{
    const uint64_t rejected = fake_count(rig->array, "rejected");
    const uint64_t commands = fake_count(rig->array, "commands");
    const uint64_t written = fake_count(rig->output, "write_words"), crossed = port_words(rig);
    cnnvp_time delay = 1;
    assert_int_equal(array_rig_send(rig, &command, &delay), expected);
    assert_int_equal(delay, 0);
    if (strstr(rig->array->message, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", rig->array->message, why);
    assert_int_equal(fake_count(rig->array, "rejected"), rejected + 1u);
    assert_int_equal(fake_count(rig->array, "commands"), commands);
    assert_int_equal(fake_count(rig->output, "write_words"), written);
    assert_int_equal(port_words(rig), crossed);
}
