/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of a scratchpad. Expected values come from arithmetic of this file's own. */
#include "buffer_case.h"

static struct cnnvp_host *open_scratchpad(struct fake_sim *sim)
{
    fake_sim_init(sim, MHZ, 0, 0);
    struct cnnvp_host *host = fake_add(sim, &cnnvp_unit_scratchpad);
    fake_set(host, "size", 2u * HALF);
    fake_set(host, "width_words", 64);
    assert_int_equal(fake_start(host), CNNVP_OK);
    return host;
}

static int access_at(struct cnnvp_host *host, const char *port, uint32_t op, uint32_t half, uint32_t offset,
                     uint64_t size, void *data)
{
    struct cnnvp_access access = {.op = op, .address = cnnvp_buffer_address(half, offset), .size = size, .data = data};
    return fake_access(host, port, &access);
}

/* One memory: what is at a region's begin is behind the region before it. */
static void test_regions_are_of_one_memory(void **state)
{
    struct fake_sim sim;
    struct cnnvp_host *host = open_scratchpad(&sim);
    uint16_t words[2] = {7, 8}, back[2];
    (void)state;
    for (uint32_t half = 0; half < 2; ++half) {
        assert_int_equal(fake_write(host, "WEIGHT_BASE", 1024), CNNVP_OK);
        assert_int_equal(fake_write(host, "OUTPUT_BASE", 3072), CNNVP_OK);
        words[0] = (uint16_t)(100u + half);
        assert_int_equal(access_at(host, "input", CNNVP_WRITE, half, 0, 4, words), CNNVP_OK);
        words[0] = (uint16_t)(200u + half);
        assert_int_equal(access_at(host, "weight", CNNVP_WRITE, half, 0, 4, words), CNNVP_OK);
        words[0] = (uint16_t)(300u + half);
        assert_int_equal(access_at(host, "output", CNNVP_WRITE, half, 0, 4, words), CNNVP_OK);
        assert_int_equal(fake_write(host, "WEIGHT_BASE", 0), CNNVP_OK);
        assert_int_equal(fake_write(host, "OUTPUT_BASE", 0), CNNVP_OK);
        for (uint32_t region = 0; region < 3; ++region) {
            static const uint32_t bases[] = {0, 1024, 3072};
            static const char *const ports[] = {"output", "input", "weight"};
            assert_int_equal(access_at(host, ports[region], CNNVP_READ, half, bases[region], 4, back), CNNVP_OK);
            assert_int_equal(back[0], 100u * (region + 1u) + half);
            assert_int_equal(back[1], 8);
        }
    }
    assert_int_equal(fake_count(host, "write_words"), 12);
    fake_sim_free(&sim);
}

/* A region ends where the next one begins, the last one with the half. */
static void test_regions_end(void **state)
{
    struct fake_sim sim;
    struct cnnvp_host *host = open_scratchpad(&sim);
    uint8_t bytes[16] = {0};
    (void)state;
    assert_int_equal(fake_write(host, "WEIGHT_BASE", 1024), CNNVP_OK);
    assert_int_equal(fake_write(host, "OUTPUT_BASE", 3075), CNNVP_OK);
    assert_int_equal(fake_read(host, "OUTPUT_BASE"), 3072); /* whole units of 8 bytes */
    static const struct {
        const char *port;
        uint32_t bytes;
    } regions[] = {{"input", 1024}, {"weight", 2048}, {"output", HALF - 3072u}};
    for (size_t i = 0; i < 3; ++i) {
        assert_int_equal(access_at(host, regions[i].port, CNNVP_READ, 1, regions[i].bytes - 8u, 8, bytes), CNNVP_OK);
        assert_int_equal(access_at(host, regions[i].port, CNNVP_READ, 1, regions[i].bytes - 8u, 10, bytes),
                         CNNVP_E_ADDR);
        assert_int_equal(access_at(host, regions[i].port, CNNVP_READ, 0, regions[i].bytes, 2, bytes), CNNVP_E_ADDR);
    }
    /* Behind the end of a half is nothing. */
    assert_int_equal(fake_write(host, "OUTPUT_BASE", 2u * HALF), CNNVP_OK);
    assert_int_equal(access_at(host, "output", CNNVP_READ, 0, 0, 2, bytes), CNNVP_E_ADDR);
    assert_int_equal(access_at(host, "weight", CNNVP_READ, 0, HALF - 1024u, 2, bytes), CNNVP_E_ADDR);
    int64_t sums[4] = {16, 32, 48, 64}; /* 1 to 4 after the shift */
    struct cnnvp_update update = plain_update(sums, 1, 4);
    struct cnnvp_access access = {.op = CNNVP_COMMAND, .data = &update, .size = sizeof update};
    assert_int_equal(fake_access(host, "output", &access), CNNVP_E_ADDR);
    assert_int_equal(fake_write(host, "OUTPUT_BASE", HALF - 8u), CNNVP_OK);
    assert_int_equal(fake_access(host, "output", &access), CNNVP_OK);
    assert_int_equal(access_at(host, "output", CNNVP_READ, 0, 0, 8, bytes), CNNVP_OK);
    assert_int_equal(bytes[0], 1);
    assert_int_equal(bytes[6], 4);
    fake_reset(host);
    assert_int_equal(fake_read(host, "WEIGHT_BASE"), 0);
    fake_sim_free(&sim);
}

/* Cycles of a command's accesses, each of words over its cycles, beyond the port. */
static uint64_t late(struct cnnvp_host *host, uint64_t flow, const char *port, uint64_t words, uint64_t cycles,
                     uint32_t mode)
{
    struct cnnvp_access access = {
        .op = CNNVP_BORROW_READ, .size = 512, .words = words, .cycles = cycles, .flow = flow, .mode = mode};
    assert_int_equal(fake_access(host, port, &access), CNNVP_OK);
    return access.delay / 1000u;
}

/* The words of a command cross one port; another command, and the DMA, begin anew. */
static void test_regions_share_the_port(void **state)
{
    struct fake_sim sim;
    struct cnnvp_host *host = open_scratchpad(&sim);
    (void)state;
    assert_int_equal(late(host, 1, "input", 640, 10, 0), 0);
    assert_int_equal(late(host, 1, "weight", 65, 10, 0), 2);
    assert_int_equal(late(host, 1, "output", 63, 10, 0), 0); /* 768 words: 12 cycles */
    assert_int_equal(late(host, 1, "output", 640, 10, 0), 10);
    assert_int_equal(late(host, 2, "output", 640, 10, 0), 0);
    assert_int_equal(late(host, 2, "input", 1280, 10, 0), 20); /* more than 10 of its own */
    assert_int_equal(late(host, 2, "input", 1280, 10, cnnvp_buffer_dma_mode(0)), 10);
    assert_int_equal(late(host, 2, "weight", 640, 10, 0), 10);
    sim.now += 1000;
    assert_int_equal(late(host, 2, "weight", 640, 10, 0), 0);
    assert_int_equal(fake_count(host, "port_conflict_cycles"), 52);
    assert_int_equal(late(host, 3, "weight", 6400, 0, 0), 0); /* without cycles nothing is late */
    fake_sim_free(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regions_are_of_one_memory),
        cmocka_unit_test(test_regions_end),
        cmocka_unit_test(test_regions_share_the_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
