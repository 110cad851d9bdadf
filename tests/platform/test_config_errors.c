/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong platform files: each is refused with its place and what would be right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_config.h"

struct error_case {
    const char *units;    /* a file with base: base.yaml and these units, or, if it begins with "!", the whole file */
    const char *position; /* ":LINE:COLUMN: " or "" */
    const char *message;
};

static void expect_refusal(const char *file, const char *position, const char *message)
{
    cnnvp_config *config = NULL;
    struct cnnvp_error error;
    if (test_load(file, &config, &error) != CNNVP_BAD_INPUT) {
        cnnvp_config_free(config);
        fail_msg("not refused: %s (%s)", message, error.text);
    }
    assert_null(config);
    char start[1024];
    (void)snprintf(start, sizeof start, "%s%s", file, position);
    if (strncmp(error.text, start, strlen(start)) != 0 || strstr(error.text, message) == NULL)
        fail_msg("\"%s\" is not \"%s ... %s\"", error.text, start, message);
    assert_null(strchr(error.text, '\n'));
}

static void check(const struct error_case *cases, size_t count)
{
    (void)test_write_text("base.yaml", test_platform);
    for (size_t i = 0; i < count; ++i) {
        char text[2000];
        if (cases[i].units[0] == '!')
            (void)snprintf(text, sizeof text, "%s", cases[i].units + 1);
        else
            (void)snprintf(text, sizeof text, "base: base.yaml\nunits:\n%s", cases[i].units);
        expect_refusal(test_write_text("wrong.yaml", text), cases[i].position, cases[i].message);
    }
}

#define CHECK(cases) check(cases, sizeof cases / sizeof *cases)

static void yaml_itself(void **state)
{
    (void)state;
    const struct error_case cases[] = {
        {"!", "", "is empty"},
        {"!\n# nothing\n", "", "is empty"},
        {"!~\n", "", "is empty"},
        {"!platform: x\n", "", "has no units"},
        {"!- a\n- b\n", ":1:1: ", "a list where a map is expected"},
        {"!hello\n", ":1:1: ", "a single value where a map is expected"},
        {"!units: [1, 2]\n", ":1:8: ", "units: a list where a map of instances is expected"},
        {"!units:\n", ":1:", "units: nothing where a map"},
        {"!base: [nfu]\n", ":1:7: ", "base: a list where a name is expected"},
        {"!base: ''\nunits: {}\n", ":1:7: ", "base: nothing where a name is expected"},
        {"!unit: {}\n", ":1:1: ", "unknown key \"unit\"; did you mean \"units\"?"},
        {"!zzz: {}\n",
         ":1:1: ", "unknown key \"zzz\"; a platform file has platform, base, memory, technology, energy, units"},
        {"!base: base.yaml\nmemory: ddr4\n",
         ":2:9: ", "memory: \"ddr4\" is neither dram, the platform's own model, nor external"},
        {"!base: base.yaml\nmemory: {}\n", ":2:9: ", "memory: a map where a name is expected"},
        {"!memory: external\nunits: {cpu: {model: core}}\n", ":1:9: ", "memory: there is no instance dram"},
        {"!base: base.yaml\nmemory: external\nunits: {dram: {rows: 3}}\n",
         ":3:16: ", "model external has no parameter \"rows\""},
        {"!base: base.yaml\nmemory: external\nunits: {dram: {connect: {socket: dram}}}\n",
         ":3:34: ", "dram.connect.socket: leads out of the platform"},
        {"!base: base.yaml\nenergy: eyeris\n", ":2:9: ", "there is no table \"eyeris\"; did you mean \"eyeriss\"?"},
        {"!base: base.yaml\nenergy: {table: none.yaml}\n", ":2:17: ", "none.yaml cannot be read: No such file"},
        {"!base: base.yaml\nenergy: {dram_bit: 3}\n", ":2:10: ", "no entry \"dram_bit\"; did you mean \"dram_byte\"?"},
        {"!base: base.yaml\nenergy: {dram_byte: -3}\n", ":2:21: ", "\"-3\" is no number of picojoules"},
        {"!base: base.yaml\nenergy: {dram_byte: 1e9}\n", ":2:21: ", "is no number of picojoules"},
        {"!base: base.yaml\nenergy: {sram_scaling: 1}\n", ":2:24: ", "sram_scaling is on or off"},
        {"!units: {energy: {model: core}}\n", ":1:9: ", "energy is the energy table"},
        {"!units: {cpu: {model: core\n", ":2:1: ", "missing comma in flow mapping"},
        {"!units:\n\tcpu: 1\n", ":2:1: ", "tab character"},
        {"!a: b: c\n", ":1:5: ", "invalid nested block mapping"},
        {"!units: \"abc\n", ":1:9: ", "without closing quote"},
        {"!units: {}\n---\nunits: {}\n", ":2:1: ", "a second document"},
        {"!units: {a: &x {model: core}, b: *x}\n", ":1:", "anchors, aliases and tags"},
        {"!units: {a: !!map {model: core}}\n", ":1:", "anchors, aliases and tags"},
        {"!units: {a: {<<: {model: core}}}\n", ":1:13: ", "merge keys"},
        {"!units: {[a]: b}\n", ":1:9: ", "a key must be a single word"},
        {"!units: {a: \x01}\n", ":1:12: ", "control character 0x01"},
        {"!units: {a: \xff}\n", ":1:12: ", "byte 0xff is not UTF-8"},
        {"!units: {\xc3\xa9: \xc0\x80}\n", ":1:12: ", "byte 0xc0 is not UTF-8"},
        {"!units: {\xc3\xa9: {model: core}}\n", ":1:9: ", "is not a name for an instance"},
        {"!units: {a.b: {model: core}}\n", ":1:9: ", "is not a name for an instance"},
        {"!units: {1a: {model: core}}\n", ":1:9: ", "is not a name for an instance"},
    };
    CHECK(cases);
}

static void keys_and_types(void **state)
{
    (void)state;
    const struct error_case cases[] = {
        {"  first: {rows: 1, rows: 2}\n", ":3:20: ", "key \"rows\" is there twice; first at "},
        {"  first: {rows: 1}\n  first: {rows: 2}\n", ":4:3: ", "key \"first\" is there twice"},
        {"  first: {rosw: 1}\n", ":3:11: ", "first: model engine has no parameter \"rosw\"; did you mean \"rows\"?"},
        {"  first: {zzzzzz: 1}\n", ":3:11: ", "it has rows, cols, depth"},
        {"  first: {rows: [1]}\n", ":3:17: ", "first.\"rows\": a list where a single value is expected"},
        {"  first: {rows: {a: 1}}\n", ":3:17: ", "a map where a single value is expected"},
        {"  first: {rows: }\n", ":3:1", "nothing where a single value is expected"},
        {"  first: {model: ~}\n", ":3:18: ", "nothing where a single value is expected"},
        {"  first: {rows: 0}\n", ":3:17: ", "first.rows: \"0\" is out of range: 1 to 64"},
        {"  first: {rows: -1}\n", ":3:17: ", "out of range"},
        {"  first: {rows: 8.5}\n", ":3:17: ", "not a whole number"},
        {"  first: {rows: \"8\"}\n", ":3:17: ", "in quotes"},
        {"  first: {depth: -4}\n", ":3:18: ", "out of range: 1KiB to 16MiB"},
        {"  first: {detail: quick}\n", ":3:19: ", "\"quick\" is not one of fast|cycle"},
        {"  first: 5\n", ":3:10: ", "\"first\": a single value where a map is expected"},
        {"  first: []\n", ":3:10: ", "a list where a map is expected"},
        {"  fourth: null\n", ":3:11: ", "the base has no instance of this name"},
        {"  frist: {rows: 4}\n", ":3:3: ",
         "frist: has no `model:`, and no base has an instance of this name; "
         "did you mean \"first\"?"},
        {"  extra: {model: enginee}\n", ":3:18: ", "extra.model: there is no unit of kind enginee; did you mean"},
        {"  extra: {model: ./libx.so:x}\n", ":3:18: ", "libx.so cannot be loaded"},
        {"  extra: {model: wrong}\n", ":3:3: ", "extra.rows: the model's default \"0\" is out of range"},
        {"  bus: {rows: 3}\n", ":3:9: ", "bus: model bus has no parameter \"rows\""},
    };
    CHECK(cases);
}

static void connections(void **state)
{
    (void)state;
    const struct error_case cases[] = {
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
    CHECK(cases);
}

static void interrupts_and_clocks(void **state)
{
    (void)state;
    const struct error_case cases[] = {
        {"  e: {model: engine, at: 0x20000000, irq: 1, connect: {mem: dram}}\n",
         ":3:43: ", "first and e drive the same interrupt line, 1 of plic.source"},
        {"  first: {irq: 7}\n", "", "first and second drive the same interrupt line, 7 of plic.source"},
        {"  first: {irq: 0}\n", ":3:16: ", "first.irq: \"0\" is out of range: 1 to 31"},
        {"  first: {irq: 32}\n", ":3:16: ", "out of range: 1 to 31"},
        {"  dram: {irq: 2}\n", ":3:10: ", "dram.irq: model memory has no interrupt output"},
        {"  bus: {irq: 2}\n", ":3:9: ", "the bus has no interrupt"},
        {"  second: {irq: 8}\n", ":3:12: ", "second.irq: port irq is connected at"},
        {"  plic: null\n  second: {connect: {irq: null}}\n", "", "first.irq: there is no instance of model plic"},
        {"  dram: null\n", "", "dram: null takes it away, but first.connect.mem names it"},
        {"  first: {clock: dram}\n",
         ":3:18: ", "first.clock: \"dram\" has no parameter clock_mhz; those with a clock are"},
        {"  first: {clock: cpuu}\n", ":3:18: ", "is not an instance; did you mean \"cpu\"?"},
        {"  cpu: {clock: cpu}\n", ":3:9: ", "has a clock of its own"},
    };
    /* The base is where two of these are found. */
    (void)test_write_text("base.yaml", test_platform);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (*cases[i].position) {
            check(&cases[i], 1);
            continue;
        }
        char text[400];
        cnnvp_config *config = NULL;
        struct cnnvp_error error;
        (void)snprintf(text, sizeof text, "base: base.yaml\nunits:\n%s", cases[i].units);
        assert_int_equal(test_load(test_write_text("wrong.yaml", text), &config, &error), CNNVP_BAD_INPUT);
        if (strstr(error.text, cases[i].message) == NULL)
            fail_msg("\"%s\" without \"%s\"", error.text, cases[i].message);
    }
}

static void addresses(void **state)
{
    (void)state;
    const struct error_case cases[] = {
        {"  second: {at: 0x10000ffc}\n",
         ":3:16: ", "first (0x10000000 to 0x10000fff) and second (0x10000ffc to 0x10001ffb) overlap"},
        {"  dram: {size: 2GiB}\n  first: {at: 0xfffff000}\n",
         ":4:15: ", "dram (0x80000000 to 0xffffffff) and first (0xfffff000 to 0xffffffff) overlap"},
        {"  dram: {size: 2GiB, at: 0x80001000}\n", ":3:26: ", "reaches beyond 0xffffffff"},
        {"  first: {at: 0x100000000}\n", ":3:15: ", "first.at: \"0x100000000\" is out of range: 0x0 to 0xffffffff"},
        {"  first: {at: -4}\n", ":3:15: ", "out of range"},
        {"  first: {at: 0x10000002}\n", ":3:15: ", "is not a multiple of 4"},
        {"  first: {at: here}\n", ":3:15: ", "a whole number is expected"},
        {"  cpu: {at: 0x1000}\n", ":3:9: ", "cpu.at: model core has no port that the bus could reach"},
        {"  bus: {at: 0x1000}\n", ":3:9: ", "bus.at: model bus has no port"},
        {"  hole: {model: empty, at: 0x1000}\n", ":3:28: ", "hole: its window has no bytes"},
        {"  bus2: {model: bus}\n", ":3:3: ", "bus and bus2 are both a bus; a platform has one"},
        {"!units: {dram: {model: memory, at: 0x80000000}}\n", ":1:31: ", "there is no instance of model bus"},
        {"  first: {at: null}\n", "", "first: nothing reaches its registers (port regs)"},
    };
    for (size_t i = 0; i + 1 < sizeof cases / sizeof *cases; ++i)
        check(&cases[i], 1);
    cnnvp_config *config = NULL;
    struct cnnvp_error error;
    const char *file = test_write_text("wrong.yaml", "base: base.yaml\nunits:\n  first: {at: null}\n");
    assert_int_equal(test_load(file, &config, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, cases[sizeof cases / sizeof *cases - 1].message));
}

static void idle(void **state)
{
    (void)state;
    const struct error_case cases[] = {
        {"  spare: {model: block, idle: maybe}\n", ":3:31: ", "spare.idle: "},
        {"  spare: {model: block}\n", ":3:3: ",
         "spare: no other instance's port leads to it, so it would do nothing; connect one to it, or write "
         "`idle: true` if that is meant"},
        {"  spare: {model: block, idle: false}\n", ":3:3: ", "spare: no other instance's port leads to it"},
    };
    CHECK(cases);
    cnnvp_config *config = NULL;
    struct cnnvp_error error;
    const char *file = test_write_text("idle.yaml", "base: base.yaml\nunits:\n  spare: {model: block, idle: true}\n");
    assert_int_equal(test_load(file, &config, &error), CNNVP_DONE);
    char *yaml = NULL;
    char *map = NULL;
    assert_int_equal(cnnvp_config_text(config, &yaml, &map), CNNVP_DONE);
    assert_non_null(strstr(yaml, "    model: block\n    idle: true\n"));
    free(yaml);
    free(map);
    cnnvp_config_free(config);
}

static void bases(void **state)
{
    (void)state;
    (void)test_write_text("loop_a.yaml", "base: loop_b.yaml\nunits: {}\n");
    const char *loop_b = test_write_text("loop_b.yaml", "base: ./loop_a.yaml\nunits: {}\n");
    cnnvp_config *config = NULL;
    struct cnnvp_error error;
    assert_int_equal(test_load(loop_b, &config, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "loop_a.yaml:1:7: base: "));
    assert_non_null(strstr(error.text, "is its own base"));
    expect_refusal(test_write_text("self.yaml", "base: self.yaml\n"), ":1:7: ", "is its own base");
    expect_refusal(test_write_text("lost.yaml", "base: nowhere.yaml\n"), ":1:7: ", "cannot be read: No such file");
    expect_refusal(test_write_text("lost.yaml", "base: nowhere\n"), ":1:7: ", "there is no preset \"nowhere\"");
    /* A chain that is too long, though no file repeats. */
    char name[32], text[64];
    for (int i = 0; i <= CNNVP_CONFIG_BASES + 1; ++i) {
        (void)snprintf(name, sizeof name, "chain%d.yaml", i);
        (void)snprintf(text, sizeof text, "base: chain%d.yaml\nunits: {}\n", i + 1);
        (void)test_write_text(name, text);
    }
    const char *first = test_write_text("chain0.yaml", "base: chain1.yaml\nunits: {}\n");
    assert_int_equal(test_load(first, &config, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "a chain of more than"));
}

static void large_and_deep(void **state)
{
    (void)state;
    const size_t limit = CNNVP_YAML_FILE_BYTES;
    char *text = malloc(limit + 2);
    assert_non_null(text);
    memset(text, ' ', limit + 2);
    expect_refusal(test_write("large.yaml", text, limit + 1), ": ", "is larger than 1 MiB");
    memset(text, '[', limit);
    expect_refusal(test_write("deep.yaml", text, limit), ":1:17: ", "nested more than 16 deep");
    memset(text, '\n', limit);
    expect_refusal(test_write("lines.yaml", text, limit), ": ", "is empty");
    size_t length = (size_t)sprintf(text, "units:\n");
    for (int i = 0; length < limit - 64; ++i)
        length += (size_t)sprintf(text + length, "  u%d: {model: core}\n", i);
    expect_refusal(test_write("many.yaml", text, length), ":1026:", "more than 1024 entries");
    /* A name and a value as long as the file. */
    length = (size_t)sprintf(text, "units: {cpu: {model: ");
    memset(text + length, 'm', limit - length - 2);
    memcpy(text + limit - 2, "}}", 2);
    expect_refusal(test_write("long.yaml", text, limit), ":1:", "mmm");
    length = (size_t)sprintf(text, "units: {");
    memset(text + length, 'n', 1000);
    length += 1000;
    length += (size_t)sprintf(text + length, ": {model: core}}");
    expect_refusal(test_write("long.yaml", text, length), ":1:9: ", "is not a name for an instance");
    const char zeros[] = "units: {a: \0}\n";
    expect_refusal(test_write("zero.yaml", zeros, sizeof zeros - 1), ":1:12: ", "control character 0x00");
    free(text);
}

static void unreadable(void **state)
{
    (void)state;
    cnnvp_config *config = NULL;
    struct cnnvp_error error;
    assert_int_equal(test_load("/nonexistent/x.yaml", &config, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "/nonexistent/x.yaml: cannot be read: No such file or directory");
    assert_int_equal(test_load("/", &config, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "/: cannot be read: Is a directory");
    assert_int_equal(test_load("", &config, &error), CNNVP_BAD_INPUT);
}

static void wrong_sets(void **state)
{
    (void)state;
    struct cnnvp_error error;
    cnnvp_config *config = NULL;
    assert_int_equal(test_load(test_write_text("base.yaml", test_platform), &config, &error), CNNVP_DONE);
    static const char *const cases[][2] = {
        {"rows", "--set \"rows\": is not of the form INSTANCE.PARAM=VALUE"},
        {"first.rows", "is not of the form"},
        {"first=3", "is not of the form"},
        {".rows=3", "is not of the form"},
        {"first.=3", "is not of the form"},
        {"", "is not of the form"},
        {"frist.rows=3", "the platform has no such instance; did you mean \"first\"?"},
        {"first.connect=3", "connections are made in the platform file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_int_equal(cnnvp_config_set(config, cases[i][0], &error), CNNVP_BAD_INPUT);
        if (strstr(error.text, cases[i][1]) == NULL)
            fail_msg("\"%s\" without \"%s\"", error.text, cases[i][1]);
    }
    assert_int_equal(cnnvp_config_set(config, "first.rosw=3", &error), CNNVP_DONE);
    assert_int_equal(cnnvp_config_resolve(config, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "--set first.rosw=3: first: model engine has no parameter \"rosw\"; "
                                    "did you mean \"rows\"?");
    cnnvp_config_free(config);
}

const struct CMUnitTest test_error_cases[] = {
    cmocka_unit_test(yaml_itself), cmocka_unit_test(keys_and_types),
    cmocka_unit_test(connections), cmocka_unit_test(interrupts_and_clocks),
    cmocka_unit_test(addresses),   cmocka_unit_test(bases),
    cmocka_unit_test(idle),        cmocka_unit_test(large_and_deep),
    cmocka_unit_test(unreadable),  cmocka_unit_test(wrong_sets),
};
const size_t test_error_case_count = sizeof test_error_cases / sizeof *test_error_cases;
