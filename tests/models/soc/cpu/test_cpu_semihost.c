/* SPDX-License-Identifier: Apache-2.0 */
/* Output, command line and exit status by semihosting. */
#include "cpu_case.h"

/* A C program on picolibc: output, command line, exit status, all by semihosting. */
static void test_hello(void **state)
{
    const char *elf = getenv("HELLO_ELF");
    (void)state;
    if (elf == NULL)
        skip();
    struct cnnvp_host *h = case_run_elf(elf, 1000, 10000, 0, CACHE);
    assert_int_equal(h->finished, 1);
    assert_string_equal(h->console, "hello 3 first\n");
    assert_int_equal(h->code, 5);
    case_finish(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hello),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
