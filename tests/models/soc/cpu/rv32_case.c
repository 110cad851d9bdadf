/* SPDX-License-Identifier: Apache-2.0 */
#include "rv32_case.h"

struct machine *rv32_begin(const uint32_t *words, size_t count)
{
    struct machine *m = malloc(sizeof *m);
    assert_non_null(m);
    assert_int_equal(machine_init(m), 0);
    machine_poke(m, RAM, words, count);
    cnnvp_rv32_reset(m->core, RAM);
    return m;
}

void rv32_end(struct machine *m)
{
    machine_fini(m);
    free(m);
}

enum cnnvp_rv32_reason rv32_go(struct machine *m, uint64_t limit, uint64_t expected)
{
    uint64_t executed;
    m->limit = limit;
    enum cnnvp_rv32_reason reason = cnnvp_rv32_run(m->core, limit, &executed);
    assert_int_equal(executed, expected);
    m->slots_before_run += executed;
    return reason;
}

uint32_t rv32_csr_of(struct machine *m, unsigned number)
{
    uint32_t value;
    assert_int_equal(cnnvp_rv32_csr(m->core, number, &value), 0);
    return value;
}
