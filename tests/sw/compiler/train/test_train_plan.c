/* SPDX-License-Identifier: Apache-2.0 */
/* Layers in tiles of odd sizes: the same results, whatever shares an exponent. */
#include "trainer_case.h"

static void test_odd_tiles(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "input_buffer.size=800", "weight_buffer.size=1200", "intermediate_buffer.size=48KiB"};
    char name[64];
    odd_write(name, 0);
    struct session_setup setup = odd(name);
    setup.options.epochs = 2;
    for (int block = CNNVP_TRAIN_BLOCK_TENSOR; block <= CNNVP_TRAIN_BLOCK_CHANNEL; ++block) {
        setup.options.block = (enum cnnvp_train_block)block;
        setup.sets[0] = NULL;
        struct outcome usual = outcome_of(&setup);
        for (size_t i = 0; i < sizeof sets / sizeof sets[0]; ++i) {
            setup.sets[0] = sets[i];
            struct outcome other = outcome_of(&setup);
            assert_same_results(&usual, &other);
            outcome_clear(&other);
        }
        outcome_clear(&usual);
    }
    (void)remove(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_odd_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
