/* SPDX-License-Identifier: Apache-2.0 */
/* Connections and interrupts that are refused. */
#include "config_case.h"

static void connections(void **state)
{
    (void)state;
    const struct test_refusal cases[] = {
        {"  e: {model: engine, at: 0x20000000}\n",
         ":3:3: ", "e: port mem (a memory initiator) of model engine is not connected"},
        {"  first: {connect: {mem: null}}\n", ":3:26: ", "first: port mem"},
        {"  first: {connect: {mem: dramm}}\n",
         ":3:26: ", "first.connect.mem: \"dramm\": there is no such instance; did you mean \"dram\"?"},
        {"  first: {connect: {mem: second}}\n", ":3:26: ", "has no port that fits a memory initiator"},
        {"  first: {connect: {next: second}}\n", ":3:27: ", "leaves open which port; there are regs, done"},
        {"  first: {connect: {next: second.don}}\n", ":3:27: ", "there is no such port; did you mean \"done\"?"},
        {"  first: {connect: {next: second.mem}}\n", ":3:27: ", "is a memory initiator, to which an initiator cannot"},
        {"  first: {connect: {next: second.done.1.2}}\n", ":3:27: ", "has too many parts"},
        {"  first: {connect: {next: second.1}}\n", ":3:27: ", "names a line, which only an interrupt has"},
        {"  first: {connect: {next: bus.port}}\n", ":3:27: ", "the bus has none by name"},
        {"  first: {connect: {nex: bus}}\n", ":3:21: ", "has no outgoing port \"nex\"; did you mean \"next\"?"},
        {"  first: {connect: {done: bus}}\n",
         ":3:21: ", "port done is a target; connections are written at the initiator"},
        {"  first: {connect: bus}\n", ":3:20: ", "first.connect: a single value where a map of ports is expected"},
        {"  first: {connect: null}\n", ":3:20: ", "one port at a time"},
        {"  first: {connect: {mem: [dram]}}\n", ":3:26: ", "a list where a single value is expected"},
        {"  b: {model: block, connect: {words: dram}}\n", ":3:38: ",
         "b.connect.words: \"dram\" takes plain reads and writes, but this port sends words of buffers; those that fit "
         "are first.done"},
        {"  b: {model: block, connect: {words: bus}}\n", ":3:38: ", "\"bus\" takes plain reads and writes"},
        {"  b: {model: block, connect: {words: first.regs}}\n", ":3:38: ", "takes plain reads and writes"},
        {"  b: {model: block, connect: {words: b.tile}}\n", ":3:38: ", "takes tiles of the multi-function module"},
        {"  b: {model: block, connect: {next: b}}\n", ":3:37: ", "tiles would go round in a circle: b -> b"},
        {"  a: {model: block, connect: {next: b}}\n  b: {model: block, connect: {next: c}}\n"
         "  c: {model: block, connect: {next: d, back: b}}\n  d: {model: block}\n",
         "", "tiles would go round in a circle: "},
        {"  b: {model: block, at: 0x20000000}\n", ":3:21: ",
         "b.at: port tile of model block takes tiles of the multi-function module; the bus has plain reads and writes"},
        {"  plic: {connect: {external: cpu}}\n", ":3:30: ", "leaves open which line, 0 to 2"},
        {"  plic: {connect: {external: cpu.3}}\n", ":3:30: ", "line \"3\" is out of range: 0 to 2"},
        {"  plic: {connect: {external: bus}}\n", ":3:30: ", "which takes no interrupts"},
    };
    TEST_REFUSED(cases);
}

static void interrupts(void **state)
{
    (void)state;
    const struct test_refusal cases[] = {
        {"  e: {model: engine, at: 0x20000000, irq: 1, connect: {mem: dram}}\n",
         ":3:43: ", "first and e drive the same interrupt line, 1 of plic.source"},
        {"  first: {irq: 7}\n", NULL, "first and second drive the same interrupt line, 7 of plic.source"},
        {"  first: {irq: 0}\n", ":3:16: ", "first.irq: \"0\" is out of range: 1 to 31"},
        {"  first: {irq: 32}\n", ":3:16: ", "out of range: 1 to 31"},
        {"  second: {connect: {irq: plic.0}}\n", ":3:27: ", "line \"0\" is out of range: 1 to 31"},
        {"  second: {connect: {irq: plic.source}}\n", ":3:27: ", "leaves open which line, 1 to 31"},
        {"  dram: {irq: 2}\n", ":3:10: ", "dram.irq: model memory has no interrupt output"},
        {"  bus: {irq: 2}\n", ":3:9: ", "the bus has no interrupt"},
        {"  second: {irq: 8}\n", ":3:12: ", "second.irq: port irq is connected at"},
        {"  plic: null\n  second: {connect: {irq: null}}\n", NULL, "first.irq: there is no instance of model plic"},
        {"  dram: null\n", NULL, "dram: null takes it away, but first.connect.mem names it"},
    };
    TEST_REFUSED(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections),
        cmocka_unit_test(interrupts),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
