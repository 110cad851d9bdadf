/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer_case.h"

struct outcome outcome_of(const struct session_setup *setup)
{
    struct outcome outcome = {.stats = NULL};
    struct session session;
    json_error_t error;
    if (session_run(setup, &session) != CNNVP_DONE)
        fail_msg("%s", session.error.text);
    outcome.stats = json_loads(session.stats, 0, &error);
    assert_non_null(outcome.stats);
    memcpy(outcome.records, session.records, sizeof outcome.records);
    outcome.record_count = session.record_count;
    if (!setup->options.timing_only && cnnvp_trainer_get_state(session.trainer, session.platform, &outcome.state,
                                                               &outcome.state_size, &session.error) != CNNVP_DONE)
        fail_msg("%s", session.error.text);
    session_close(&session);
    return outcome;
}

void outcome_clear(struct outcome *outcome)
{
    json_decref(outcome->stats);
    free(outcome->state);
}

uint64_t number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    assert_true(json_is_integer(value));
    return (uint64_t)json_integer_value(value);
}

int is(const json_t *object, const char *name, const char *text)
{
    return strcmp(json_string_value(json_object_get(object, name)), text) == 0;
}

uint64_t sum(const struct outcome *outcome, const char *op, const char *phase, const char *member)
{
    size_t i;
    json_t *layer;
    uint64_t all = 0;
    json_array_foreach(json_object_get(outcome->stats, "layers"), i,
                       layer) if (is(layer, "op", op) && is(layer, "phase", phase)) all += number(layer, member);
    return all;
}

void assert_accounts(const struct outcome *outcome)
{
    const json_t *total = json_object_get(outcome->stats, "total");
    const json_t *memory = json_object_get(outcome->stats, "memory");
    uint64_t cycles = number(total, "idle_cycles");
    uint64_t read = 0;
    uint64_t written = 0;
    uint64_t macs = 0;
    size_t i;
    json_t *layer;
    json_array_foreach(json_object_get(outcome->stats, "layers"), i, layer)
    {
        uint64_t mine = number(layer, "compute_cycles");
        const char *cause;
        json_t *stalled;
        json_object_foreach(json_object_get(layer, "stall_cycles"), cause, stalled) mine +=
            (uint64_t)json_integer_value(stalled);
        assert_int_equal(mine, number(layer, "cycles"));
        cycles += mine;
        read += number(layer, "dram_read_bytes");
        written += number(layer, "dram_write_bytes");
        macs += number(layer, "macs");
    }
    assert_int_equal(cycles, number(total, "accel_cycles"));
    assert_int_equal(macs, number(total, "macs"));
    assert_int_equal(read, number(memory, "read_bytes"));
    assert_int_equal(written, number(memory, "write_bytes"));
}

void assert_same_results(const struct outcome *a, const struct outcome *b)
{
    assert_int_equal(a->record_count, b->record_count);
    for (size_t i = 0; i < a->record_count; ++i) {
        assert_int_equal(a->records[i].correct, b->records[i].correct);
        assert_memory_equal(&a->records[i].loss, &b->records[i].loss, sizeof(double));
    }
    assert_int_equal(a->state_size, b->state_size);
    assert_memory_equal(a->state, b->state, a->state_size);
}

struct session_setup digits(void)
{
    struct session_setup setup = session_setup(DIGITS, 1, 8, 10);
    setup.images = 10;
    setup.evaluation = 6;
    setup.native = 1;
    return setup;
}

struct session_setup odd(const char *network)
{
    struct session_setup setup = session_setup(network, ODD_CHANNELS, ODD_HEIGHT, ODD_CLASSES);
    setup.width = ODD_WIDTH;
    setup.images = 5;
    setup.options.batch = 5;
    setup.native = 1;
    return setup;
}
