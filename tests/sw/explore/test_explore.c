/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the exploration by themselves: constraints, searches, fronts, result files; specifications that are
 * wrong. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "explore.h"

/* ---- constraints ---- */

static uint32_t find_name(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "a") == 0 ? 0 : strcmp(name, "b.c") == 0 ? 1 : strcmp(name, "s") == 0 ? 2 : UINT32_MAX;
}

static void offer_names(void *context, struct cnnvp_suggest *suggest)
{
    (void)context;
    cnnvp_suggest_offer(suggest, "a");
    cnnvp_suggest_offer(suggest, "b.c");
    cnnvp_suggest_offer(suggest, "s");
}

static struct cnnvp_operand value_of(const void *context, uint32_t index)
{
    static const struct cnnvp_operand values[] = {{NULL, 8}, {NULL, 3}, {"ddr4-2400", 0}};
    (void)context;
    return values[index];
}

/* 1, 0, or -1 with a message. */
static int holds(const char *text, struct cnnvp_error *error)
{
    struct cnnvp_arena arena = {NULL};
    struct cnnvp_expression *expression = NULL;
    int result = -1;
    if (cnnvp_expression_new(&arena, text, "f.yaml:4:10", find_name, offer_names, NULL, &expression, error) !=
            CNNVP_DONE ||
        cnnvp_expression_holds(expression, value_of, NULL, &result, error) != CNNVP_DONE)
        result = -1;
    cnnvp_arena_free(&arena);
    return result;
}

static void test_constraints(void **state)
{
    static const struct {
        const char *text;
        int holds;
    } cases[] = {
        {"a == 8", 1},
        {"a != 8", 0},
        {"a == b.c", 0},
        {"a > b.c", 1},
        {"a + b.c * 2 == 14", 1},
        {"(a + b.c) * 2 == 22", 1},
        {"a - 4 - 3 == 1", 1},
        {"a / 4 == 2", 1},
        {"a / 16 == 0.5", 1},
        {"a % b.c == 2", 1},
        {"-a < 0", 1},
        {"s == 'ddr4-2400'", 1},
        {"s != \"ddr4-2400\"", 0},
        {"not a == 8", 0},
        {"!(a == 8)", 0},
        {"not not a == 8", 1},
        {"a == 1 or b.c == 3", 1},
        {"a == 1 || b.c == 4", 0},
        {"a == 8 and b.c == 4", 0},
        {"a == 8 && b.c == 3", 1},
        {"a == 1 and b.c == 3 or a == 8", 1},
        {"a == 8 or b.c == 3 and a == 1", 1},
        {"a * 1KiB == 8192", 1},
        {"1 KiB == 1024 and a == 8", 1},
        {"a >= 8 and a <= 8 and a < 9", 1},
        {"a", 1},
        {"a - 8", 0},
        {"2 * -3 == -6", 1},
        {"a*b.c<=24", 1},
        /* The right side is not looked at once the left decides. */
        {"b.c == 3 or a / 0 > 1", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct cnnvp_error error = {""};
        int result = holds(cases[i].text, &error);
        if (result != cases[i].holds)
            fail_msg("%s: %d %s", cases[i].text, result, error.text);
    }
}

static void test_constraint_errors(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"a = 8", "f.yaml:4:12: two values are compared by =="},
        {"a == ", "f.yaml:4:15: something is missing"},
        {"x.yz == 1", "f.yaml:4:10: there is no parameter \"x.yz\"; texts go in quotes"},
        {"a == b.d", "f.yaml:4:15: there is no parameter \"b.d\"; did you mean \"b.c\"?"},
        {"s == ddr4-2400", "f.yaml:4:15: there is no parameter \"ddr4\""},
        {"(a == 8", "f.yaml:4:17: a closing parenthesis"},
        {"a == 8)", "f.yaml:4:16: an operator"},
        {"1 < a < 9", "f.yaml:4:16: an operator is expected here; comparisons do not chain"},
        {"s == 'x", "f.yaml:4:15: a quote"},
        {"s == 3", "f.yaml:4:12: a text and a number"},
        {"s < 'x'", "f.yaml:4:12: texts can be compared"},
        {"a / 0 == 1", "f.yaml:4:12: division by zero"},
        {"a == 8 and s", "f.yaml:4:21: a text is neither"},
        {"3x == 1", "f.yaml:4:10: this is no number"},
        {"", "f.yaml:4:10: something is missing"},
        {"a == 8 ** 2", "f.yaml:4:18: a number, a name"},
    };
    char deep[400];
    struct cnnvp_error error = {""};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        error.text[0] = '\0';
        assert_int_equal(holds(cases[i].text, &error), -1);
        if (strstr(error.text, cases[i].message) != error.text)
            fail_msg("%s: %s", cases[i].text, error.text);
    }
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(holds(deep, &error), -1);
    assert_non_null(strstr(error.text, "nested too deep"));
}

/* ---- specifications ---- */

static char folder[64];

static char *write_spec(const char *text)
{
    static char file[100];
    struct cnnvp_error error = {""};
    (void)snprintf(file, sizeof file, "%s/spec.yaml", folder);
    assert_int_equal(cnnvp_write_text(file, text, strlen(text), &error), CNNVP_DONE);
    return file;
}

static char *with_network(const char *text)
{
    static char whole[4096];
    (void)snprintf(whole, sizeof whole, "network: %s/scripts/networks/lenet5.onnx\noptions: {timing_only: true}\n%s",
                   getenv("SOURCE"), text);
    return whole;
}

static cnnvp_sweep *make_sweep(const char *text)
{
    struct cnnvp_error error = {""};
    cnnvp_sweep *sweep = NULL;
    if (cnnvp_sweep_new(write_spec(with_network(text)), &sweep, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return sweep;
}

static void test_specification_errors(void **state)
{
    static const struct {
        const char *text; /* from line 3 on */
        const char *message;
    } cases[] = {
        {"parameters: {pe_array.rwos: [4]}",
         ":3:14: the platform has no parameter \"pe_array.rwos\"; did you mean \"pe_array.rows\"?"},
        {"parameters: {pe_array.rows: []}", ":3:29: pe_array.rows: an empty list"},
        {"parameters: {pe_array.rows: {from: 8, to: 4, step: 1}}", ":3:36: pe_array.rows: an empty range"},
        {"parameters: {pe_array.rows: {from: 8, to: 12, step: 0}}", ":3:53: pe_array.rows: a step above 0"},
        {"parameters: {pe_array.rows: {from: 8, to: 12}}",
         ":3:29: pe_array.rows: a range is {from: A, to: B, step: S}"},
        {"parameters: {pe_array.rows: {log2: [64, 4]}}", ":3:36: pe_array.rows: an empty range"},
        {"parameters: {pe_array.rows: {log2: [3, 4]}}", ":3:37: pe_array.rows: a power of two"},
        {"parameters: {pe_array.rows: [8, 1000]}", ":3:33: pe_array.rows: \"1000\" is out of range: 1 to 64"},
        {"parameters: {pe_array.rows: {log2: [32, 128]}}", ":3:36: pe_array.rows: \"128\" is out of range"},
        {"parameters: {pe_array.rows: [8, 8]}", ":3:33: pe_array.rows: \"8\" is there twice"},
        {"parameters: {input_buffer.size: [64KiB, 65536]}", ":3:41: input_buffer.size: \"65536\" is there twice"},
        {"parameters: {dram.preset: [ddr9]}", ":3:28: dram.preset: \"ddr9\" is not one of ddr3-1600"},
        {"parameters: {dram.preset: {log2: [1, 2]}}", ":3:27: dram.preset: has no order"},
        {"parameters: {pe_array.rows: [4, 8]}\nconstraints: [\"pe_array.rows > 100\"]",
         "allow none of the 2 combinations"},
        {"parameters: {pe_array.rows: [4, 8]}\nconstraints: [\"pe_array.rowz > 100\"]", ":4:16: there is no parameter"},
        {"objectives: [total.time]",
         ":3:14: the statistics have no number \"total.time\"; did you mean \"total.time_ps\"?"},
        {"objectives: [total.time_ps, total.time_ps]", ":3:29: objective \"total.time_ps\" is there twice"},
        {"objectives: [platform]", ":3:14: the statistics have no number"},
        {"serch: grid", ":3:1: unknown key \"serch\"; did you mean \"search\"?"},
        {"search: best", ":3:9: search: grid, {random: N}"},
        {"search: {random: 0}", ":3:18: random: \"0\" is out of range"},
        {"search: {nsga2: {population: 8, generations: 2}}", ":3:17: nsga2 needs objectives"},
        {"command: rnu", ":3:10: command: \"rnu\" is none of run, train and exec"},
        {"platform: nosuch", "nosuch"},
        {"parameters: [pe_array.rows]", ":3:13: parameters: a list where a map"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct cnnvp_error error = {""};
        cnnvp_sweep *sweep = NULL;
        assert_int_equal(cnnvp_sweep_new(write_spec(with_network(cases[i].text)), &sweep, &error), CNNVP_BAD_INPUT);
        assert_null(sweep);
        if (strstr(error.text, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].text, error.text);
    }
}

static void test_option_errors(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"options: {shedule: layer}",
         "\"shedule\" is no option of run that a sweep can take; did you mean \"schedule\"?"},
        {"options: {schedule: [layer, wide]}", ":2:29: schedule: \"wide\" is not one of layer|depth-first"},
        {"options: {timing_only: 3}", "timing_only: true or false is expected"},
        {"options: {max_time: 3}", "max_time: a time above 0"},
        {"options: {epochs: 3}", "\"epochs\" is no option of run"},
        {"options: {input: /nonexistent.npy}", "input: /nonexistent.npy: cannot be read"},
    };
    char text[1024];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct cnnvp_error error = {""};
        cnnvp_sweep *sweep = NULL;
        (void)snprintf(text, sizeof text, "network: %s/scripts/networks/lenet5.onnx\n%s", getenv("SOURCE"),
                       cases[i].text);
        assert_int_equal(cnnvp_sweep_new(write_spec(text), &sweep, &error), CNNVP_BAD_INPUT);
        if (strstr(error.text, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].text, error.text);
    }
    struct cnnvp_error error = {""};
    cnnvp_sweep *sweep = NULL;
    assert_int_equal(cnnvp_sweep_new(write_spec("network: nosuch.onnx"), &sweep, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, ":1:10: network: nosuch.onnx: cannot be read"));
    assert_int_equal(cnnvp_sweep_new(write_spec("platform: nfu"), &sweep, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "the key network is missing"));
}

/* ---- searches ---- */

static void test_grid(void **state)
{
    struct cnnvp_error error = {""};
    uint64_t *numbers = NULL, allowed = 0;
    size_t count = 0;
    cnnvp_sweep *sweep = make_sweep("parameters:\n  pe_array.rows: {from: 4, to: 16, step: 4}\n"
                                    "  pe_array.cols: {log2: [4, 32]}\nconstraints: pe_array.rows == pe_array.cols\n");
    (void)state;
    assert_int_equal(cnnvp_space_points(sweep, 0, &numbers, &count, &allowed, &error), CNNVP_DONE);
    assert_int_equal(count, 3); /* 4, 8, 16 */
    assert_int_equal(allowed, 3);
    for (size_t i = 0; i < count; ++i) {
        static const char *const expected[] = {
            "{\"pe_array.rows\":4,\"pe_array.cols\":4}", "{\"pe_array.rows\":8,\"pe_array.cols\":8}",
            "{\"pe_array.rows\":16,\"pe_array.cols\":16}"};
        json_t *params = cnnvp_point_params(sweep, numbers[i]);
        char *text = json_dumps(params, JSON_COMPACT);
        assert_string_equal(text, expected[i]);
        free(text);
        json_decref(params);
    }
    free(numbers);
    cnnvp_sweep_free(sweep);
}

static void check_random(const char *spec, size_t expected, uint64_t combinations)
{
    struct cnnvp_error error = {""};
    uint64_t *a = NULL, *b = NULL, *c = NULL, allowed = 0;
    size_t count_a = 0, count_b = 0, count_c = 0;
    cnnvp_sweep *sweep = make_sweep(spec);
    assert_true(sweep->combinations == combinations);
    assert_int_equal(cnnvp_space_points(sweep, 1, &a, &count_a, &allowed, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_space_points(sweep, 1, &b, &count_b, &allowed, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_space_points(sweep, 2, &c, &count_c, &allowed, &error), CNNVP_DONE);
    assert_int_equal(count_a, expected);
    assert_int_equal(count_b, expected);
    assert_int_equal(count_c, expected);
    assert_memory_equal(a, b, expected * sizeof *a);
    assert_memory_not_equal(a, c, expected * sizeof *a);
    for (size_t i = 0; i < expected; ++i) {
        int allowed = 0;
        assert_true(i == 0 || a[i] > a[i - 1]);
        assert_int_equal(cnnvp_point_allowed(sweep, a[i], &allowed, &error), CNNVP_DONE);
        assert_true(allowed);
    }
    free(a);
    free(b);
    free(c);
    cnnvp_sweep_free(sweep);
}

static void test_random(void **state)
{
    (void)state;
    check_random("parameters: {pe_array.rows: {from: 1, to: 64, step: 1}, pe_array.cols: {from: 1, to: 64, step: 1}}\n"
                 "constraints: [pe_array.rows < pe_array.cols]\nsearch: {random: 100}",
                 100, 4096);
    check_random("parameters: {pe_array.rows: {from: 1, to: 64, step: 1}, pe_array.cols: {from: 1, to: 64, step: 1},\n"
                 "  instruction.queue_depth: {from: 64, to: 4096, step: 1}}\n"
                 "constraints: [pe_array.rows < pe_array.cols]\nsearch: {random: 100}",
                 100, 4096u * 4033u);
}

static void test_chance(void **state)
{
    /* Vigna's reference values of splitmix64 for the seed 1234567. */
    struct cnnvp_chance chance = {1234567};
    uint32_t seen[7] = {0};
    (void)state;
    assert_true(cnnvp_chance_next(&chance) == UINT64_C(6457827717110365317));
    assert_true(cnnvp_chance_next(&chance) == UINT64_C(3203168211198807973));
    for (int i = 0; i < 7000; ++i)
        ++seen[cnnvp_chance_below(&chance, 7)];
    for (int i = 0; i < 7; ++i)
        assert_in_range(seen[i], 850, 1150);
}

/* ---- fronts ---- */

static void test_hypervolume(void **state)
{
    static const double plane[] = {1, 3, 2, 2, 3, 1, 3, 3, 5, 0};
    static const double corner[] = {4, 4, 4};
    static const double space[] = {1, 1, 3, 3, 3, 1};
    static const double a[] = {1, 2}, b[] = {1, 3}, c[] = {2, 1};
    (void)state;
    /* Squares that (1,3), (2,2) and (3,1) cover below (4,4): 3 + 2 + 1; the others are dominated or outside. */
    assert_true(cnnvp_hypervolume(plane, 5, 2, corner) == 6.0);
    /* 3*3*1 and 1*1*3, less what both cover, 1*1*1. */
    assert_true(cnnvp_hypervolume(space, 2, 3, corner) == 11.0);
    assert_true(cnnvp_hypervolume(plane, 0, 2, corner) == 0.0);
    assert_true(cnnvp_dominates(a, b, 2) && !cnnvp_dominates(b, a, 2) && !cnnvp_dominates(a, c, 2));
    assert_false(cnnvp_dominates(a, a, 2));
}

/* ---- result files ---- */

static void test_result_files(void **state)
{
    static const char key[] = "0123456789abcdef0123456789abcdef";
    struct cnnvp_error error = {""};
    char params[] = "{\"a\":1}", stats[] = "{\"total\":{}}", message[] = "x: \"y\"\nz", file[200];
    struct cnnvp_row row = {.params = params, .stats = stats, .seconds = 0.25}, back;
    char *text = NULL;
    size_t size = 0;
    (void)state;
    memcpy(row.key, key, sizeof row.key);
    (void)snprintf(file, sizeof file, "%s/%s.result", folder, key);
    assert_int_equal(cnnvp_result_write(folder, &row, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_result_read(file, &back, &error), CNNVP_DONE);
    assert_string_equal(back.stats, stats);
    assert_string_equal(back.params, params);
    assert_true(!back.failed && back.error == NULL && back.seconds == 0.25);
    cnnvp_row_clear(&back);
    /* Cut anywhere, it is refused. */
    assert_int_equal(cnnvp_read_text(file, 1 << 20, &text, &size, &error), CNNVP_DONE);
    for (size_t cut = 0; cut < size; ++cut) {
        assert_int_equal(cnnvp_write_text(file, text, cut, &error), CNNVP_DONE);
        assert_int_equal(cnnvp_result_read(file, &back, &error), CNNVP_BAD_INPUT);
        cnnvp_row_clear(&back);
    }
    free(text);
    row.failed = 1;
    row.stats = NULL;
    row.error = message;
    assert_int_equal(cnnvp_result_write(folder, &row, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_result_read(file, &back, &error), CNNVP_DONE);
    assert_true(back.failed && back.stats == NULL);
    assert_string_equal(back.error, message);
    cnnvp_row_clear(&back);
    (void)unlink(file);
}

static void test_paths(void **state)
{
    json_t *stats = json_loads("{\"total\":{\"x\":3},\"layers\":[{\"name\":\"a.b\",\"cycles\":7}],\"links\":"
                               "[{\"from\":\"dma\",\"to\":\"dram\",\"read_bytes\":9}]}",
                               0, NULL);
    double number = 0;
    (void)state;
    assert_true(cnnvp_stats_number(stats, "total.x", &number) && number == 3.0);
    assert_true(cnnvp_stats_number(stats, "layers.a.b.cycles", &number) && number == 7.0);
    assert_true(cnnvp_stats_number(stats, "layers.0.cycles", &number) && number == 7.0);
    assert_true(cnnvp_stats_number(stats, "links.dma-dram.read_bytes", &number) && number == 9.0);
    assert_false(cnnvp_stats_number(stats, "total", &number));
    assert_false(cnnvp_stats_number(stats, "total.y", &number));
    assert_false(cnnvp_stats_number(stats, "layers.1.cycles", &number));
    json_decref(stats);
    assert_true(cnnvp_parse_time("1.5ms") == UINT64_C(1500000000));
    assert_true(cnnvp_parse_time("2s") == UINT64_C(2000000000000));
    assert_true(cnnvp_parse_time("2") == 0 && cnnvp_parse_time("0s") == 0 && cnnvp_parse_time("-1s") == 0);
}

static int is_first_or_last(const void *context, const char *section, size_t length)
{
    (void)context;
    return cnnvp_section_is(section, length, "first.x") || cnnvp_section_is(section, length, "last");
}

/* Whatever stands between, members are found whole, and others are left out. */
static void test_sections(void **state)
{
    static const char *const between[] = {
        "",
        "\"a\":1,",
        "\"a\":{\"last\":{\"b\":[1,{\"first\":2}]}},",
        "\"a\":\"}],\\\"last\\\":3\",",
        "\"fir\":[],\"firstx\":{},",
        " \"a\" : [ [ ] , { } , \"\\\\\" ] ,\n\t",
        "\"\\\"\":null,\"a\":-1.5e3,"};
    static const char *const broken[] = {
        "", "[]", "3", "{", "{\"first\":", "{\"first\":1", "{\"last\":\"}", "{\"last\":[}", "{\"a"};
    (void)state;
    for (size_t i = 0; i < sizeof between / sizeof *between; ++i) {
        char text[400];
        (void)snprintf(text, sizeof text, " {%s\"first\":{\"x\":[1,\"]\",{}]},%s\"last\" : \"}\\\"\"}", between[i],
                       between[i]);
        json_t *part = cnnvp_stats_sections(text, is_first_or_last, NULL), *whole = json_loads(text, 0, NULL);
        assert_non_null(whole);
        assert_int_equal(json_object_size(part), 2);
        assert_true(json_equal(json_object_get(part, "first"), json_object_get(whole, "first")));
        assert_true(json_equal(json_object_get(part, "last"), json_object_get(whole, "last")));
        json_decref(part);
        json_decref(whole);
    }
    for (size_t i = 0; i < sizeof broken / sizeof *broken; ++i)
        assert_null(cnnvp_stats_sections(broken[i], is_first_or_last, NULL));
}

/* ---- command: train, by a program ---- */

/* A program in the place of cnnvp: writes its arguments into the statistics, fails for 3 rows. */
static const char program_text[] =
    "#!/bin/sh\nfor word in \"$@\"; do case $word in --stats=*) file=${word#--stats=};; --set=pe_array.rows=3) "
    "echo 'cnnvp: three is refused' >&2; exit 2;; esac; done\n"
    "printf '{\"schema\": \"cnnvp-stats/2\", \"total\": {\"time_ps\": 5}, \"args\": \"%s\"}' \"$*\" >\"$file\"\n";

static int take_row(void *context, const struct cnnvp_row *row)
{
    int *seen = context;
    json_t *stats = row->stats != NULL ? json_loads(row->stats, 0, NULL) : NULL;
    const char *args = json_string_value(json_object_get(stats, "args"));
    if (row->failed) {
        assert_string_equal(row->error, "cnnvp: three is refused");
        ++seen[1];
    } else {
        assert_non_null(args);
        assert_non_null(strstr(args, "train "));
        assert_non_null(strstr(args, " --timing-only"));
        assert_non_null(strstr(args, " --lr=0.5"));
        assert_non_null(strstr(args, " --set=pe_array.rows=2"));
        ++seen[0];
    }
    json_decref(stats);
    return 0;
}

static void test_train(void **state)
{
    struct cnnvp_error error = {""};
    struct cnnvp_sweep_progress done;
    struct cnnvp_results *results = NULL;
    char program[100], database[100];
    int seen[2] = {0, 0};
    cnnvp_sweep *sweep = make_sweep("command: train\nparameters: {pe_array.rows: [2, 3]}\n");
    (void)state;
    cnnvp_sweep_free(sweep);
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "command: train\nnetwork: %s/scripts/networks/lenet5.onnx\n"
                   "options: {timing_only: true, lr: 0.5}\nparameters: {pe_array.rows: [2, 3]}\n",
                   getenv("SOURCE"));
    (void)snprintf(program, sizeof program, "%s/program", folder);
    (void)snprintf(database, sizeof database, "%s/train.sqlite", folder);
    assert_int_equal(cnnvp_write_text(program, program_text, sizeof program_text - 1, &error), CNNVP_DONE);
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(cnnvp_sweep_new(write_spec(text), &sweep, &error), CNNVP_DONE);
    const struct cnnvp_sweep_options options = {
        .struct_size = sizeof options, .results = database, .jobs = 2, .program = program};
    if (cnnvp_sweep_run(sweep, &options, &done, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_true(done.finished == 2 && done.failed == 1 && done.found == 0);
    assert_int_equal(cnnvp_results_open(database, 0, &results, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_results_each(results, take_row, seen, &error), CNNVP_DONE);
    assert_true(seen[0] == 1 && seen[1] == 1);
    cnnvp_results_close(results);
    cnnvp_sweep_free(sweep);
    (void)unlink(program);
    (void)unlink(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_constraint_errors),
        cmocka_unit_test(test_specification_errors),
        cmocka_unit_test(test_option_errors),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_chance),
        cmocka_unit_test(test_hypervolume),
        cmocka_unit_test(test_result_files),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_train),
    };
    (void)snprintf(folder, sizeof folder, "/tmp/cnnvp_explore_XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char file[100];
    (void)snprintf(file, sizeof file, "%s/spec.yaml", folder);
    (void)unlink(file);
    (void)rmdir(folder);
    return failed;
}
