/* SPDX-License-Identifier: Apache-2.0 */
/* Waveforms, read back by the strict reader of this folder. */
#include "machine.h"
#include "trace_support.h"
#include "vcd_check.h"

#include <inttypes.h>

#include "test.h"

static const char small_vcd[] =
    "$version cnnvp " CNNVP_VERSION " $end\n"
    "$timescale 1 ps $end\n"
    "$scope module test_platform $end\n"
    "$scope module instruction $end\n"
    "$var wire 1 ! issue_busy $end\n"
    "$var reg 32 \" issue_spans $end\n"
    "$var reg 16 # issue_layer $end\n"
    "$var reg 256 $ issue_op $end\n"
    "$upscope $end\n"
    "$scope module pe_array $end\n"
    "$var wire 1 % conv_busy $end\n"
    "$var reg 32 & conv_spans $end\n"
    "$var reg 16 ' conv_layer $end\n"
    "$var reg 256 ( conv_op $end\n"
    "$var wire 1 ) vector_unit_busy $end\n"
    "$var reg 32 * vector_unit_spans $end\n"
    "$var reg 16 + vector_unit_layer $end\n"
    "$var reg 256 , vector_unit_op $end\n"
    "$var wire 1 - irq $end\n"
    "$upscope $end\n"
    "$scope module input_buffer $end\n"
    "$var reg 64 . features $end\n"
    "$var reg 64 / feature_bytes $end\n"
    "$upscope $end\n"
    "$scope module output_buffer $end\n"
    "$var reg 64 0 features $end\n"
    "$var reg 64 1 feature_bytes $end\n"
    "$upscope $end\n"
    "$scope module dram $end\n"
    "$var reg 64 2 queue $end\n"
    "$var reg 64 3 bandwidth $end\n"
    "$var reg 256 4 functions $end\n"
    "$upscope $end\n"
    "$scope module links $end\n"
    "$var reg 64 5 pe_array_to_dram $end\n"
    "$upscope $end\n"
    "$upscope $end\n"
    "$enddefinitions $end\n"
    "#0\n"
    "$dumpvars\n"
    "1!\nb1 \"\nb1 #\nb0110100101110011011100110111010101100101 $\n"
    "0%\nb0 &\nb0 '\nb0 (\n0)\nb0 *\nb0 +\nb0 ,\n0-\nb101 .\nb0 /\nb0 0\nb0 1\nb0 2\nb0 3\nb0 4\nb0 5\n"
    "$end\n"
    "#1000\n0!\nb0 #\nb0 $\n"
    "#1500\n1%\nb1 &\nb1 '\nb01100011011011110110111001110110 (\nb0 .\n"
    /* One span ends, the next begins: busy stays 1, spans counts. */
    "#4700\nb10 '\nb011011010110000101111000 (\nb10 &\n"
    "#4900\n0%\nb0 '\nb0 (\n1-\n"
    "#6000\n0-\n"
    "#100000\nb1001010100000010111110010000000000 5\n"
    "#200000\nb100110001001011010000000 5\n"
    "#300000\nb0 5\n"
    "#400000\nb1001100010010110100000000 5\n"
    "#500000\nb0 5\n"
    "#777000\n";

static void small_waveform_in_full(void **state)
{
    struct vcd_result result;
    size_t size;
    cnnvp_recorder *recorder = make(path("small.vcd"));
    char *text;

    (void)state;
    feed_small(recorder);
    assert_int_equal(file_count(), 0);
    finish(recorder, 777000);
    assert_int_equal(file_count(), 1);
    text = content("small.vcd", &size);
    assert_string_equal(text, small_vcd);
    if (!vcd_check(text, size, NULL, NULL, &result))
        fail_msg("%s", result.error);
    free(text);
}

static void list_functions(void *context, uint64_t time, const char *name, const char *value)
{
    char *list = context;
    size_t length = strlen(list);
    char text[40] = "";

    if (strstr(name, ".functions") == NULL)
        return;
    for (size_t i = 0; value[0] != '0' && i < (strlen(value) + 7) / 8; ++i)
        for (size_t bit = 0; bit < 8; ++bit) {
            size_t place = 8 * i + bit + strlen(value);
            size_t whole = (strlen(value) + 7) / 8 * 8;

            text[i] = (char)(text[i] << 1 | (place >= whole && value[place - whole] == '1'));
        }
    snprintf(list + length, LIST_BYTES - length, "%" PRIu64 " %s\n", time, text);
}

static void the_innermost_call_is_a_signal(void **state)
{
    struct vcd_result result;
    char list[LIST_BYTES] = "";
    cnnvp_recorder *recorder = make(path("calls.vcd"));
    size_t size;
    char *text;

    (void)state;
    feed_calls(recorder);
    text = content("calls.vcd", &size);
    if (!vcd_check(text, size, list_functions, list, &result))
        fail_msg("%s", result.error);
    assert_string_equal(list, "0 \n1000 main\n2000 trap\n3000 work\n4000 main\n5000 work\n6000 0x00000400\n9000 \n");
    free(text);
}

/* Deeper calls than are kept are not shown, and their returns end no others. */
static void deep_calls_end_in_order(void **state)
{
    enum { DEEP = CNNVP_CALL_DEPTH + 100 };
    struct vcd_result result;
    char list[LIST_BYTES] = "";
    cnnvp_recorder *recorder = make(path("deep.vcd"));
    const uint64_t call = UINT64_C(1) << 32;
    size_t size;
    char *text;

    (void)state;
    cnnvp_recorder_counter(recorder, DRAM, DRAM_FUNCTIONS, 1000, call | 0x100);
    for (uint64_t i = 1; i <= DEEP; ++i)
        cnnvp_recorder_counter(recorder, DRAM, DRAM_FUNCTIONS, 1000 + i, call | 0x200);
    for (uint64_t i = 1; i <= DEEP; ++i)
        cnnvp_recorder_counter(recorder, DRAM, DRAM_FUNCTIONS, 5000 + i, 0);
    cnnvp_recorder_counter(recorder, DRAM, DRAM_FUNCTIONS, 8000, 0);
    finish(recorder, 9000);
    text = content("deep.vcd", &size);
    if (!vcd_check(text, size, list_functions, list, &result))
        fail_msg("%s", result.error);
    assert_string_equal(list, "0 \n1000 0x00000100\n1001 0x00000200\n6124 0x00000100\n8000 \n");
    free(text);
}

static void sum_changes(void *context, uint64_t time, const char *name, const char *value)
{
    struct trace_sums *sums = context;

    (void)time;
    if (strcmp(name, "test_platform.pe_array.conv_spans") == 0)
        sums->begins = strtoull(value, NULL, 2);
    else if (strcmp(name, "test_platform.pe_array.vector_unit_spans") == 0)
        sums->flows = strtoull(value, NULL, 2);
}

static void random_waveform_is_valid(void **state)
{
    struct vcd_result result;
    struct trace_sums sums = {0};
    size_t size;
    char *text;

    (void)state;
    run_random("random.vcd");
    text = content("random.vcd", &size);
    if (!vcd_check(text, size, sum_changes, &sums, &result))
        fail_msg("%s", result.error);
    assert_int_equal(sums.begins + sums.flows, SPANS);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(small_waveform_in_full, remove_files),
        cmocka_unit_test_teardown(the_innermost_call_is_a_signal, remove_files),
        cmocka_unit_test_teardown(deep_calls_end_in_order, remove_files),
        cmocka_unit_test_teardown(random_waveform_is_valid, remove_files),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
