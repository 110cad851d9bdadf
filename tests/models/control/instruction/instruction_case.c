/* SPDX-License-Identifier: Apache-2.0 */
#include "instruction_case.h"

struct rig *started(void)
{
    struct rig *rig = rig_new(1000);
    rig_start(rig);
    rig_to(rig, 10);
    return rig;
}

void check_cycles(const struct rig *rig, const uint64_t *cycles, uint32_t count)
{
    assert_int_equal(rig->count, count);
    for (uint32_t i = 0; i < count; ++i)
        assert_int_equal(rig->commands[i].cycle, cycles[i]);
}

void check_error(struct rig *rig, uint32_t cause, uint32_t pc, uint64_t word, int32_t status)
{
    assert_int_equal(fake_read(rig->element, "IRQ_STATUS") & IRQ_ERROR, IRQ_ERROR);
    assert_int_equal(fake_read(rig->element, "STATUS") & 8u, 8);
    assert_int_equal(fake_read(rig->element, "ERROR_CAUSE"), cause);
    assert_int_equal(fake_read(rig->element, "ERROR_PC"), pc);
    assert_int_equal(fake_read(rig->element, "ERROR_WORD_LO"), (uint32_t)word);
    assert_int_equal(fake_read(rig->element, "ERROR_WORD_HI"), (uint32_t)(word >> 32));
    assert_int_equal((int32_t)fake_read(rig->element, "ERROR_STATUS"), status);
}

void fails_and_goes_on(const uint64_t *words, uint32_t failing, uint32_t cause, int32_t status)
{
    struct rig *rig = started();
    (void)fake_write(rig->element, "IRQ_ENABLE", IRQ_ERROR);
    rig_push_all(rig, words, failing + 1u);
    rig_push(rig, w_tile(ISA_fill, 0, 10, 0, TAKES(1)));
    rig_to(rig, 500);
    const uint32_t before = rig->count;
    check_error(rig, cause, failing, words[failing], status);
    assert_int_equal(rig->element->irq_level[PORT_irq], 1);
    assert_int_equal(rig->element->warnings, 1);
    assert_int_equal(fake_count(rig->element, "errors"), 1);
    (void)fake_write(rig->element, "IRQ_STATUS", IRQ_ERROR);
    assert_int_equal(rig->element->irq_level[PORT_irq], 0);
    assert_int_equal(fake_read(rig->element, "STATUS") & 8u, 0);
    rig_finish(rig, 600);
    assert_int_equal(rig->count, before + 1u);
    assert_int_equal(rig->commands[before].cycle, 501);
    assert_int_equal(fake_read(rig->element, "STATUS"), 0x4);
    rig_free(rig);
}
