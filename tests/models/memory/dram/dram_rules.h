/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timings of the standards as a table of least distances between pairs of commands, applied to a history of
 * commands. Written apart from the model: it keeps no ready times, only what was issued.
 */
#ifndef DRAM_RULES_H
#define DRAM_RULES_H

#include "memory/dram/dram_channel.h"

#define RULES_HISTORY 512u
#define RULES_WINDOW 400u /* clocks; no distance but that after REF is longer */

enum rules_scope { SAME_BANK, SAME_GROUP, SAME_RANK, OTHER_RANK, SAME_BUS, SAME_CHANNEL, RULES_SCOPES };

struct rules_command {
    enum dram_command command;
    uint64_t clock;
    uint32_t rank, bank; /* bank through the channel; not for PREA, REF */
    uint32_t row;
};

struct rules {
    uint32_t t[DRAM_TIMINGS];
    uint32_t refresh_more;
    uint32_t groups, banks;                                        /* of a rank, of a group */
    uint32_t ranks;                                                /* on a data bus */
    uint32_t distance[RULES_SCOPES][DRAM_COMMANDS][DRAM_COMMANDS]; /* [scope][before][after], 0: none */
    struct rules_command history[RULES_HISTORY];
    uint64_t count;
    uint64_t refreshed[DRAM_RANKS]; /* clock of the last REF, 0: none */
    uint64_t acts[DRAM_RANKS][4];   /* clocks of the last ACTs */
    uint64_t act_count[DRAM_RANKS];
    uint64_t second_by; /* clock of the second command of an ACT at the latest, 0: none is due */
    uint32_t second_bank;
    uint32_t row[DRAM_BANKS];
    int open[DRAM_BANKS];
};

/* `ranks` share a data bus: those of a pseudo channel. */
void rules_init(struct rules *rules, const struct dram_timing *timing, uint32_t ranks);
/* First clock at which the distances to all that was issued allow the command. */
uint64_t rules_earliest(const struct rules *rules, enum dram_command command, uint32_t rank, uint32_t bank);
/* NULL if the command may issue then, or what is wrong with it. Enters it in the history. */
const char *rules_issue(struct rules *rules, const struct rules_command *command);

#endif
