/* SPDX-License-Identifier: Apache-2.0 */
/* How many feature values are alive. */
#include "buffer_case.h"

static void expect_live(const struct fixture *f, uint64_t words)
{
    assert_int_equal(fake_counter(f->host, "feature_words"), words);
}

static void test_live_values(void **state)
{
    struct fixture f;
    (void)state;
    open_buffer(&f, 1, 1);
    /* a tile of 100 values in a frame of 144, then its border, then a part of another channel */
    go(&f, CNNVP_BORROW_WRITE, 0, 0, 288, NULL, cnnvp_buffer_dma_mode(100));
    go(&f, CNNVP_BORROW_WRITE, 0, 0, 24, NULL, cnnvp_buffer_dma_mode(0));
    expect_live(&f, 100);
    go(&f, CNNVP_BORROW_WRITE, 0, 288, 288, NULL, cnnvp_buffer_dma_mode(100));
    expect_live(&f, 200);
    assert_int_equal(fake_counter(f.host, "occupancy"), 576);
    /* the other half, loaded twice */
    go(&f, CNNVP_BORROW_WRITE, 1, 0, 288, NULL, cnnvp_buffer_dma_mode(100));
    go(&f, CNNVP_BORROW_WRITE, 1, 24, 240, NULL, cnnvp_buffer_dma_mode(90));
    expect_live(&f, 290);
    /* reads by the array change nothing, a store of one channel takes it away */
    go(&f, CNNVP_BORROW_READ, 0, 0, 576, NULL, 0);
    expect_live(&f, 290);
    go(&f, CNNVP_BORROW_READ, 0, 288, 288, NULL, cnnvp_buffer_dma_mode(0));
    expect_live(&f, 190);
    fake_reset(f.host);
    expect_live(&f, 0);
    fake_sim_free(&f.sim);
}

static void read_as(const struct fixture *f, uint32_t half, uint32_t offset, uint64_t size, uint64_t instruction)
{
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .flow = instruction, .address = cnnvp_buffer_address(half, offset), .size = size};
    assert_int_equal(fake_access(f->host, "port", &access), CNNVP_OK);
}

/* What memory holds too counts while an instruction reads it: not before, not when the next one reads elsewhere. */
static void test_live_copies(void **state)
{
    struct fixture f;
    (void)state;
    open_buffer(&f, 1, 1);
    go(&f, CNNVP_BORROW_WRITE, 0, 0, 200, NULL, cnnvp_buffer_dma_mode(100) | CNNVP_BUFFER_COPIES);
    go(&f, CNNVP_BORROW_WRITE, 0, 200, 100, NULL, cnnvp_buffer_dma_mode(50) | CNNVP_BUFFER_COPIES);
    go(&f, CNNVP_BORROW_WRITE, 1, 0, 80, NULL, cnnvp_buffer_dma_mode(40) | CNNVP_BUFFER_COPIES);
    go(&f, CNNVP_BORROW_WRITE, 1, 80, 20, NULL, cnnvp_buffer_dma_mode(10));
    expect_live(&f, 10);
    read_as(&f, 0, 0, 100, 7);
    expect_live(&f, 110);
    read_as(&f, 0, 200, 100, 7); /* a second operand */
    expect_live(&f, 160);
    read_as(&f, 1, 0, 80, 8);
    expect_live(&f, 50);
    read_as(&f, 1, 80, 20, 9);
    expect_live(&f, 10);
    read_as(&f, 0, 0, 200, 10); /* again */
    expect_live(&f, 110);
    go(&f, CNNVP_BORROW_WRITE, 0, 0, 200, NULL, cnnvp_buffer_dma_mode(100) | CNNVP_BUFFER_COPIES);
    expect_live(&f, 10);
    fake_sim_free(&f.sim);
}

static void test_live_marks(void **state)
{
    struct fixture f;
    (void)state;
    open_buffer(&f, 1, 1);
    assert_int_equal(go(&f, CNNVP_WRITE, 0, 64, 200, NULL, cnnvp_buffer_dma_mode(25) | CNNVP_BUFFER_MARK), CNNVP_OK);
    expect_live(&f, 25);
    /* results come to lie there; they are counted by whoever marks */
    go(&f, CNNVP_BORROW_WRITE, 0, 64, 100, NULL, cnnvp_buffer_dma_mode(0));
    expect_live(&f, 25);
    assert_int_equal(go(&f, CNNVP_WRITE, 0, 64, 200, NULL, cnnvp_buffer_dma_mode(75) | CNNVP_BUFFER_MARK), CNNVP_OK);
    expect_live(&f, 75);
    assert_int_equal(go(&f, CNNVP_WRITE, 0, 64, 200, NULL, cnnvp_buffer_dma_mode(0) | CNNVP_BUFFER_MARK), CNNVP_OK);
    expect_live(&f, 0);
    assert_int_equal(fake_count(f.host, "dma_port_words"), 50); /* of the one write */
    fake_sim_free(&f.sim);
}

/* A map of 2 channels of 8 rows of 8, made in two row tiles of 4, worked on in place, stored in two parts. */
static void test_live_row_tiles(void **state)
{
    struct fixture f;
    (void)state;
    open_buffer(&f, 1, 1);
    struct cnnvp_update u = plain_update(NULL, 2, 32);
    u.plane_stride = 64;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    expect_live(&f, 64);
    u.out_address = 64;
    assert_int_equal(update(&f, &u), CNNVP_OK);
    expect_live(&f, 128);
    go(&f, CNNVP_BORROW_WRITE, 0, 0, 128, NULL, cnnvp_buffer_write_mode(64));
    expect_live(&f, 128);
    go(&f, CNNVP_BORROW_READ, 0, 0, 192, NULL, cnnvp_buffer_dma_mode(64));
    expect_live(&f, 64);
    go(&f, CNNVP_BORROW_READ, 0, 64, 192, NULL, cnnvp_buffer_dma_mode(64));
    expect_live(&f, 0);
    fake_sim_free(&f.sim);
}

/* A map written row by row. */
static void test_live_rows(void **state)
{
    struct fixture f;
    (void)state;
    open_buffer(&f, 1, 1);
    for (uint32_t row = 0; row < 100; ++row)
        go(&f, CNNVP_BORROW_WRITE, 0, 16u * row, 16, NULL, cnnvp_buffer_write_mode(8));
    expect_live(&f, 800);
    go(&f, CNNVP_BORROW_WRITE, 0, 16u * 50, 16, NULL, cnnvp_buffer_write_mode(8)); /* once more */
    expect_live(&f, 800);
    go(&f, CNNVP_BORROW_READ, 0, 0, 800, NULL, cnnvp_buffer_dma_mode(400));
    expect_live(&f, 400);
    fake_sim_free(&f.sim);
}

/* More ranges than are kept apart: none of the values is lost. */
static void test_live_many_ranges(void **state)
{
    struct fixture f;
    (void)state;
    open_buffer(&f, 1, 1);
    for (uint32_t i = 0; i < 100; ++i)
        go(&f, CNNVP_BORROW_WRITE, 0, 16u * i, 16, NULL, cnnvp_buffer_dma_mode(8));
    expect_live(&f, 800);
    go(&f, CNNVP_BORROW_READ, 0, 0, 1600, NULL, cnnvp_buffer_dma_mode(800));
    expect_live(&f, 0);
    fake_sim_free(&f.sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live_values),      cmocka_unit_test(test_live_row_tiles),
        cmocka_unit_test(test_live_many_ranges), cmocka_unit_test(test_live_copies),
        cmocka_unit_test(test_live_marks),       cmocka_unit_test(test_live_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
