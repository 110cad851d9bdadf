/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter `shares`: numbers of the requesting units, for the memory's arbiter. */
#pragma once

#include "dram_stream.h"

struct dram_shares {
    struct {
        uint32_t initiator, share;
    } named[DRAM_STREAMS];
    uint32_t count;
};

/* Reads the parameter `param`. On CNNVP_E_INVAL, the host has been told what is wrong. */
CNNVP_MUST_USE int cnnvp_dram_shares_read(const struct cnnvp_init *init, uint32_t param, struct dram_shares *shares);
/* Returns a requester's number: 1 if it is not named. */
uint32_t cnnvp_dram_share(const struct dram_shares *shares, uint32_t initiator);
