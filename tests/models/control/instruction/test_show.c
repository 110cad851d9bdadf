/* SPDX-License-Identifier: Apache-2.0 */
/* What a debugger's user sees of the element. */
#include "instruction_case.h"

struct text {
    char lines[8192];
    size_t size;
};

static void CNNVP_PRINTF(2, 3) add_line(void *context, const char *format, ...)
{
    struct text *text = context;
    va_list arguments;
    va_start(arguments, format);
    text->size += (size_t)vsnprintf(text->lines + text->size, sizeof text->lines - text->size, format, arguments);
    va_end(arguments);
    assert_true(text->size + 2u < sizeof text->lines);
    text->lines[text->size++] = '\n';
}

static const char *shown(const struct rig *rig)
{
    static struct text text;
    text = (struct text){.size = 0};
    const struct cnnvp_show show = {.struct_size = sizeof show, .context = &text, .line = add_line};
    rig->element->unit->show(rig->element->self, &show);
    return text.lines;
}

static void see(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no\n%sin\n%s", part, text);
}

/* A conv at work for layer 2, one that waits for the array, and a queue, of which 16 words are written out. */
static void test_busy(void **state)
{
    (void)state;
    struct rig *rig = started();
    rig->every_cycle = 1;
    assert_string_equal(shown(rig), "enabled, 0 words of 4096 in the queue, 0 more to be read from memory\n");
    rig_push(rig, w_imm(ISA_layer, 2));
    for (uint32_t i = 0; i < 40; ++i)
        rig_push(rig, CONV(0, 100));
    rig_to(rig, 40);
    const char *text = shown(rig);
    see(text, "enabled, 37 words of 4096 in the queue, 0 more to be read from memory\n"
              "in flight word 1 0x8000000000000064 conv\n          layer 2, until 114000 ps\n"
              "decoded   word 2 0x8000000000000064 conv\ndecoded   word 3 0x8000000000000064 conv\n"
              "queue     word 4 0x8000000000000064 conv\n");
    see(text, "queue     word 19 0x8000000000000064 conv\nqueue     and 21 more\n");
    rig_free(rig);
}

/* A transfer whose end nobody knows, before and after a reset; a word that is no instruction; ends of all kinds. */
static void test_states(void **state)
{
    (void)state;
    struct rig *rig = started();
    rig->every_cycle = 1;
    rig_push(rig, RECEIVE(1, 2, 300));
    rig_push(rig, w_none(ISA_halt));
    rig_push(rig, UINT64_C(0x0400000000000001));
    rig_to(rig, 30);
    see(shown(rig), "receive\n          layer 0, its end is not known yet\ndecoded   word 1 0x0400000000000000 halt\n"
                    "queue     word 2 0x0400000000000001 illegal\n");
    rig_to(rig, 400);
    assert_string_equal(shown(rig), "halted, 1 words of 4096 in the queue, 0 more to be read from memory\n"
                                    "queue     word 2 0x0400000000000001 illegal\n");
    (void)fake_write(rig->element, "CTRL", 1);
    rig_to(rig, 410);
    see(shown(rig), "stopped by an error, 0 words");
    (void)fake_write(rig->element, "IRQ_STATUS", IRQ_ERROR);
    rig_push(rig, RECEIVE(1, 2, 300));
    rig_to(rig, 430);
    (void)fake_write(rig->element, "CTRL", 2);
    see(shown(rig), "not enabled, 0 words");
    see(shown(rig), "receive, from before a reset\n");
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_busy), cmocka_unit_test(test_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
