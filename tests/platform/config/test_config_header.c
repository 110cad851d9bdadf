/* SPDX-License-Identifier: Apache-2.0 */
/* A platform as definitions of C: each word of the header is that of the platform file. */
#include <stdlib.h>
#include <string.h>

#include "config_case.h"

static void expect(const char *header, const char *line)
{
    if (strstr(header, line) == NULL)
        fail_msg("no line \"%s\" in\n%s", line, header);
}

static void definitions_of_instances(void **state)
{
    (void)state;
    cnnvp_config *config = test_config("base.yaml", test_platform);
    char *header = NULL;
    assert_int_equal(cnnvp_config_header(config, &header), CNNVP_DONE);
    expect(header, "\n/* plic, plic 1: plic */\n#define PLIC_BASE 0xc000000\n#define PLIC_BYTES 0x4000000\n");
    expect(header, "#define PLIC_PRIORITY_OFFSET 0x0 /* priority */\n");
    expect(header, "#define FIRST_BASE 0x10000000\n#define FIRST_BYTES 0x1000\n"
                   "#define FIRST_IRQ 1 /* source of the interrupt controller */\n");
    expect(header, "#define SECOND_IRQ 7 ");
    expect(header, "\n/* Frequencies, in MHz. */\n#define CPU_CLOCK_MHZ 1000 /* clock */\n\n#endif\n");
    assert_null(strstr(header, "CPU_BASE"));
    assert_null(strstr(header, "CPU_QUANTUM"));
    /* Registers are those of the port that the bus reaches. */
    assert_null(strstr(header, "DRAM_PRIORITY"));
    free(header);
    cnnvp_config_free(config);
}

/* What a person writes as a name can neither end the comment, nor begin another one or a line. */
static void names_stay_in_comments(void **state)
{
    (void)state;
    cnnvp_config *config = test_config(
        "named.yaml", "base: base.yaml\nplatform: \"a */**//\\n#error /* b\"\nunits: {cpu: {clock_mhz: 7}}\n");
    char *header = NULL;
    assert_int_equal(cnnvp_config_header(config, &header), CNNVP_DONE);
    expect(header, "for the platform a ***#error / b need");
    expect(header, "#define CPU_CLOCK_MHZ 7 ");
    free(header);
    cnnvp_config_free(config);
}

/* Registers of the port that the bus reaches, and what is said of them, as XML. */
static void registers_as_svd(void **state)
{
    (void)state;
    cnnvp_config *config = test_config("svd.yaml", "base: base.yaml\nplatform: \"a<b&c\"\n");
    char *svd = NULL;
    assert_int_equal(cnnvp_config_svd(config, &svd), CNNVP_DONE);
    expect(svd, "<name>a&#60;b&#38;c</name>");
    expect(svd, "<peripheral>\n<name>plic</name>\n<version>1</version>\n<description>plic</description>\n"
                "<baseAddress>0xc000000</baseAddress>\n<addressBlock>\n<offset>0</offset>\n<size>0x4000000</size>\n");
    expect(svd, "<register>\n<name>priority</name>\n<description>priority</description>\n"
                "<addressOffset>0x0</addressOffset>\n<access>read-write</access>\n");
    assert_null(strstr(svd, "<name>dram</name>"));
    free(svd);
    cnnvp_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_of_instances),
        cmocka_unit_test(names_stay_in_comments),
        cmocka_unit_test(registers_as_svd),
    };
    return cmocka_run_group_tests(tests, test_make_folder, test_remove_folder);
}
