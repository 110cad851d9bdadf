/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A unit of your own in one file, with two registers, one parameter, one statistic and one trace row. A write to ADD
 * adds value * gain to SUM. It needs only a C compiler to build, see the Makefile.
 */
#include <cnnvp_model.h>

enum { PARAM_gain };
enum { STAT_additions };
enum { TRACK_adder };

struct adder {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    uint32_t add;
    uint32_t sum;
};

static int init(void *self, const struct cnnvp_init *init)
{
    struct adder *adder = self;
    adder->host = init->host;
    adder->ops = init->ops;
    return CNNVP_OK;
}

static int reg_written(void *self, uint32_t reg, uint32_t old)
{
    struct adder *adder = self;
    const cnnvp_time now = adder->ops->now(adder->host);
    (void)reg;
    (void)old;
    adder->sum += adder->add * (uint32_t)adder->ops->param(adder->host, PARAM_gain);
    adder->ops->count(adder->host, STAT_additions, 0, 1);
    adder->ops->span(adder->host, TRACK_adder, "add", 0, 0, now, now + 1000);
    return CNNVP_OK;
}

static const struct cnnvp_param params[] = {
    [PARAM_gain] = {"gain", CNNVP_PARAM_UINT, "", "1", 1, 1000, NULL, "what each value is multiplied by"}};
static const struct cnnvp_port ports[] = {{"regs", CNNVP_PORT_TARGET, 0, 0x1000, 0, "registers"}};
static const struct cnnvp_register registers[] = {
    {"ADD", 0x0, CNNVP_REG_RW, 0, 0xffffffff, offsetof(struct adder, add), "adds value * gain to SUM"},
    {"SUM", 0x4, CNNVP_REG_RO, 0, 0, offsetof(struct adder, sum), "the sum so far"}};
static const struct cnnvp_stat stats[] = {[STAT_additions] = {"additions", "additions", NULL, NULL, "writes of ADD"}};
static const char *const tracks[] = {[TRACK_adder] = "adder"};

static const struct cnnvp_unit adder_unit = {
    .struct_size = sizeof(struct cnnvp_unit),
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .kind = "adder",
    .version = "1.0",
    .summary = "adds what it is told",
    .instance_size = sizeof(struct adder),
    .params = params,
    .param_count = 1,
    .ports = ports,
    .port_count = 1,
    .registers = registers,
    .register_count = 2,
    .stats = stats,
    .stat_count = 1,
    .tracks = tracks,
    .track_count = 1,
    .init = init,
    .reg_written = reg_written,
};

const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi)
{
    (void)host_abi;
    return index == 0 ? &adder_unit : NULL;
}
