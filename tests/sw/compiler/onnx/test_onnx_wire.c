/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of protobuf: what is written is read again, and what is cut or damaged is refused. */
#include "test.h"

#include "onnx_wire.h"

/* A varint of each length, bytes, and fields of 8 and 4 bytes. */
static struct cnnvp_wire_buffer message(void)
{
    static const uint8_t rest[] = {3 << 3 | CNNVP_WIRE_64, 1, 2, 3, 4, 5, 6, 7, 8, 4 << 3 | CNNVP_WIRE_32, 1, 2, 3, 4};
    struct cnnvp_wire_buffer buffer = {NULL, 0, 0};
    for (unsigned bits = 0; bits < 64; bits += 7) {
        assert_true(cnnvp_wire_put_varint(&buffer, 1 << 3 | CNNVP_WIRE_VARINT));
        assert_true(cnnvp_wire_put_varint(&buffer, UINT64_C(1) << bits));
    }
    assert_true(cnnvp_wire_put_bytes(&buffer, 300, "text", 4));
    assert_true(cnnvp_wire_put_bytes(&buffer, 2, NULL, 0));
    assert_true(cnnvp_wire_put(&buffer, rest, sizeof rest));
    return buffer;
}

static void fields_are_read_again(void **state)
{
    struct cnnvp_wire_buffer buffer = message();
    struct cnnvp_wire_field field;
    size_t at = 0;
    (void)state;
    for (size_t i = 0; i < 10; ++i) {
        assert_true(cnnvp_wire_next(buffer.bytes, &at, buffer.used, &field));
        assert_true(field.number == 1 && field.wire == CNNVP_WIRE_VARINT);
        assert_int_equal(field.end - field.value_begin, i + 1);
        assert_int_equal(field.value_begin - field.begin, 1);
    }
    assert_true(cnnvp_wire_next(buffer.bytes, &at, buffer.used, &field));
    assert_true(field.number == 300 && field.end - field.value_begin == 4);
    assert_memory_equal(buffer.bytes + field.value_begin, "text", 4);
    assert_true(cnnvp_wire_next(buffer.bytes, &at, buffer.used, &field));
    assert_true(field.number == 2 && field.end == field.value_begin);
    assert_true(cnnvp_wire_next(buffer.bytes, &at, buffer.used, &field));
    assert_true(field.number == 3 && field.end - field.value_begin == 8);
    assert_true(cnnvp_wire_next(buffer.bytes, &at, buffer.used, &field));
    assert_true(field.number == 4 && field.end - field.value_begin == 4);
    assert_int_equal(at, buffer.used);
    free(buffer.bytes);
}

/* However much of the message is there: the fields that are whole, and no byte after the cut. */
static void cut_messages_end(void **state)
{
    struct cnnvp_wire_buffer buffer = message();
    struct cnnvp_wire_field field;
    size_t ends[16] = {0}, count = 0;
    (void)state;
    for (size_t at = 0; cnnvp_wire_next(buffer.bytes, &at, buffer.used, &field); ++count)
        ends[count] = field.end;
    assert_int_equal(count, 14);
    for (size_t size = 0; size < buffer.used; ++size) {
        size_t expected = 0, end = 0;
        for (size_t i = 0; i < count; ++i)
            expected = ends[i] <= size ? ends[i] : expected;
        for (size_t at = 0; cnnvp_wire_next(buffer.bytes, &at, size, &field);)
            end = field.end;
        assert_int_equal(end, expected);
    }
    free(buffer.bytes);
}

static void damage_is_refused(void **state)
{
    static const uint8_t group[] = {1 << 3 | 3, 0},
                         endless[] = {8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    static const uint8_t huge[] = {
        1 << 3 | CNNVP_WIRE_BYTES, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0};
    struct cnnvp_wire_field field;
    size_t at = 0;
    (void)state;
    assert_false(cnnvp_wire_next(group, &at, sizeof group, &field));
    at = 0;
    assert_false(cnnvp_wire_next(endless, &at, sizeof endless, &field));
    at = 0;
    assert_false(cnnvp_wire_next(huge, &at, sizeof huge, &field));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read_again),
        cmocka_unit_test(cut_messages_end),
        cmocka_unit_test(damage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
