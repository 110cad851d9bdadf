/* SPDX-License-Identifier: Apache-2.0 */
/* An FX16 array between real buffers: see array_rig.h. */
#include "array_rig.h"

#include "buffer/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

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
