/* SPDX-License-Identifier: Apache-2.0 */
/* Which guest program is loaded, and an assembled program in memory for it. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "test.h"

#include "binary/words_binary.h"
#include "cnnvp_asm.h"
#include "fake_platform.h"
#include "guest_file.h"
#include "plan.h"

#define MEMORY ((size_t)2 << 20)

static char file[] = "/tmp/cnnvp_guest_XXXXXX";

static int make_file(void **state)
{
    (void)state;
    const int descriptor = mkstemp(file);
    return descriptor < 0 || close(descriptor) != 0 || setenv("CNNVP_GUEST", file, 1) != 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(file) != 0 || unsetenv("CNNVP_GUEST") != 0;
}

/* The one that is named goes before that of the environment; neither is replaced by another one where it is missing. */
static void the_chosen_one_comes_first(void **state)
{
    struct cnnvp_error error = {""};
    char path[256], short_path[8];
    (void)state;
    assert_int_equal(cnnvp_guest_file("/dev/null", path, sizeof path, &error), CNNVP_DONE);
    assert_string_equal(path, "/dev/null");
    assert_int_equal(cnnvp_guest_file(NULL, path, sizeof path, &error), CNNVP_DONE);
    assert_string_equal(path, file);
    assert_int_equal(cnnvp_guest_file(NULL, short_path, sizeof short_path, &error), CNNVP_BAD_INPUT);
    assert_int_equal(cnnvp_guest_file("/none/a.elf", path, sizeof path, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "the guest program /none/a.elf cannot be read");
    assert_int_equal(setenv("CNNVP_GUEST", "/none/b.elf", 1), 0);
    assert_int_equal(cnnvp_guest_file(NULL, path, sizeof path, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "the guest program /none/b.elf, named by CNNVP_GUEST, cannot be read");
    assert_int_equal(setenv("CNNVP_GUEST", file, 1), 0);
}

static void words_lie_after_their_header(void **state)
{
    const struct fake_config nfu = fake_nfu();
    const uint8_t words[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    struct cnnvp_error error = {""};
    struct cnnvp_words_binary header;
    struct cnnvp_target target = {0};
    cnnvp_config *config = fake_config_new(&nfu);
    cnnvp_platform *platform = fake_platform_new(MEMORY);
    (void)state;
    assert_int_equal(cnnvp_target_map(config, &target, &error), CNNVP_DONE);
    assert_int_equal(cnnvp_load_words(platform, config, words, sizeof words, &error), CNNVP_DONE);
    const uint8_t *at = platform->memory + (CNNVP_BINARY_ADDRESS - CNNVP_MEMORY_BASE);
    memcpy(&header, at, sizeof header);
    assert_true(platform->elf_loaded);
    assert_int_equal(header.magic, CNNVP_WORDS_BINARY_MAGIC);
    assert_int_equal(header.count, 2);
    assert_int_equal(header.element, target.accelerators[0].element);
    assert_int_equal(header.plic, target.plic);
    assert_int_equal(header.element_irq, target.accelerators[0].element_irq);
    assert_memory_equal(at + CNNVP_WORDS_OFFSET, words, sizeof words);
    assert_int_equal(cnnvp_load_words(platform, config, words, sizeof words - 1, &error), CNNVP_BAD_INPUT);
    assert_string_equal(error.text, "15 bytes are no whole number of instructions, which have 8 bytes");
    uint8_t *large = calloc(MEMORY / 2, 1);
    assert_non_null(large);
    assert_int_equal(cnnvp_load_words(platform, config, large, MEMORY / 2, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "1048576 bytes of instructions at 0x80"));
    free(large);
    fake_platform_free(platform);
    cnnvp_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chosen_one_comes_first),
        cmocka_unit_test(words_lie_after_their_header),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
