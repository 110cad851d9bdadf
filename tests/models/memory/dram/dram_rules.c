/* SPDX-License-Identifier: Apache-2.0 */
#include "dram_rules.h"

#include <string.h>

static void set(struct rules *rules, enum rules_scope scope, const enum dram_command *before,
                const enum dram_command *after, uint32_t distance)
{
    for (; *before != DRAM_COMMANDS; ++before)
        for (const enum dram_command *next = after; *next != DRAM_COMMANDS; ++next) {
            uint32_t *place = &rules->distance[scope][*before][*next];
            if (*place < distance)
                *place = distance;
        }
}

#define LIST(...)                  \
    (const enum dram_command[])    \
    {                              \
        __VA_ARGS__, DRAM_COMMANDS \
    }
#define READS LIST(DRAM_RD, DRAM_RDA)
#define WRITES LIST(DRAM_WR, DRAM_WRA)
#define COLUMNS LIST(DRAM_RD, DRAM_RDA, DRAM_WR, DRAM_WRA)
#define ACTS LIST(DRAM_ACT, DRAM_ACT_2)
#define ROWS LIST(DRAM_ACT, DRAM_ACT_2, DRAM_PRE, DRAM_PREA, DRAM_REF)

/* A command holds its bus; with one, nothing else is on it. */
static void set_buses(struct rules *rules, const struct dram_timing *timing)
{
    const uint32_t *t = timing->t;
    for (uint32_t other = 0; other < 2; ++other) {
        if (other && timing->buses > 1)
            continue;
        set(rules, SAME_CHANNEL, COLUMNS, other ? ROWS : COLUMNS, timing->column_bus);
        set(rules, SAME_CHANNEL, ACTS, other ? COLUMNS : ROWS, t[DRAM_T_cmd_act]);
        set(rules, SAME_CHANNEL, LIST(DRAM_PRE, DRAM_PREA, DRAM_REF), other ? COLUMNS : ROWS, t[DRAM_T_cmd_pre]);
    }
}

void rules_init(struct rules *rules, const struct dram_timing *timing, uint32_t ranks)
{
    memset(rules, 0, sizeof *rules);
    memcpy(rules->t, timing->t, sizeof rules->t);
    rules->groups = timing->groups;
    rules->banks = timing->banks;
    rules->ranks = ranks;
    rules->refresh_more = timing->refresh_more;
    set_buses(rules, timing);
    const uint32_t *t = rules->t;
    const uint32_t more = rules->refresh_more;
    const uint32_t read_end = t[DRAM_T_cl] + t[DRAM_T_bl], write_end = t[DRAM_T_cwl] + t[DRAM_T_bl];
    /* the data bus */
    set(rules, SAME_BUS, READS, READS, t[DRAM_T_bl]);
    set(rules, SAME_BUS, WRITES, WRITES, t[DRAM_T_bl]);
    set(rules, SAME_BUS, READS, WRITES, read_end + t[DRAM_T_rtw] - t[DRAM_T_cwl]);
    set(rules, OTHER_RANK, READS, READS, t[DRAM_T_bl] + t[DRAM_T_cs]);
    set(rules, OTHER_RANK, WRITES, WRITES, t[DRAM_T_bl] + t[DRAM_T_cs]);
    if (write_end + t[DRAM_T_cs] > t[DRAM_T_cl])
        set(rules, OTHER_RANK, WRITES, READS, write_end + t[DRAM_T_cs] - t[DRAM_T_cl]);
    /* columns */
    set(rules, SAME_RANK, READS, READS, t[DRAM_T_ccd_s]);
    set(rules, SAME_RANK, WRITES, WRITES, t[DRAM_T_ccd_s]);
    set(rules, SAME_GROUP, READS, READS, t[DRAM_T_ccd_l]);
    set(rules, SAME_GROUP, WRITES, WRITES, t[DRAM_T_ccd_l_wr]);
    set(rules, SAME_RANK, WRITES, READS, write_end + t[DRAM_T_wtr_s]);
    set(rules, SAME_GROUP, WRITES, READS, write_end + t[DRAM_T_wtr_l]);
    /* rows */
    set(rules, SAME_RANK, LIST(DRAM_ACT), LIST(DRAM_ACT), t[DRAM_T_rrd_s]);
    set(rules, SAME_GROUP, LIST(DRAM_ACT), LIST(DRAM_ACT), t[DRAM_T_rrd_l]);
    set(rules, SAME_BANK, LIST(DRAM_ACT), LIST(DRAM_ACT), t[DRAM_T_rc]);
    set(rules, SAME_BANK, LIST(DRAM_ACT), READS, t[DRAM_T_rcd]);
    set(rules, SAME_BANK, LIST(DRAM_ACT), WRITES, t[DRAM_T_rcd_wr]);
    set(rules, SAME_BANK, LIST(DRAM_ACT), LIST(DRAM_PRE), t[DRAM_T_ras]);
    set(rules, SAME_BANK, LIST(DRAM_PRE), LIST(DRAM_ACT), t[DRAM_T_rp]);
    set(rules, SAME_BANK, LIST(DRAM_RD), LIST(DRAM_PRE), t[DRAM_T_rtp]);
    set(rules, SAME_BANK, LIST(DRAM_WR), LIST(DRAM_PRE), write_end + t[DRAM_T_wr]);
    /* through the precharge between, also one that goes with a later access */
    set(rules, SAME_BANK, READS, LIST(DRAM_ACT), t[DRAM_T_rtp] + t[DRAM_T_rp]);
    set(rules, SAME_BANK, WRITES, LIST(DRAM_ACT), write_end + t[DRAM_T_wr] + t[DRAM_T_rp]);
    /* all banks */
    set(rules, SAME_RANK, LIST(DRAM_ACT), LIST(DRAM_PREA), t[DRAM_T_ras]);
    set(rules, SAME_RANK, READS, LIST(DRAM_PREA), t[DRAM_T_rtp]);
    set(rules, SAME_RANK, WRITES, LIST(DRAM_PREA), write_end + t[DRAM_T_wr]);
    set(rules, SAME_RANK, LIST(DRAM_PREA), LIST(DRAM_ACT), t[DRAM_T_rpab]);
    set(rules, SAME_RANK, LIST(DRAM_PREA), LIST(DRAM_REF), t[DRAM_T_rpab] + more);
    set(rules, SAME_RANK, LIST(DRAM_ACT), LIST(DRAM_REF), t[DRAM_T_rc] + more);
    set(rules, SAME_RANK, LIST(DRAM_PRE), LIST(DRAM_REF), t[DRAM_T_rp] + more);
    set(rules, SAME_RANK, READS, LIST(DRAM_REF), t[DRAM_T_rtp] + t[DRAM_T_rp] + more);
    set(rules, SAME_RANK, WRITES, LIST(DRAM_REF), write_end + t[DRAM_T_wr] + t[DRAM_T_rp] + more);
}

static uint32_t distance(const struct rules *rules, const struct rules_command *before, enum dram_command after,
                         uint32_t rank, uint32_t bank)
{
    uint32_t scopes = 1u << SAME_CHANNEL, most = 0;
    if (before->rank / rules->ranks == rank / rules->ranks)
        scopes |= 1u << SAME_BUS | (before->rank != rank ? 1u << OTHER_RANK : 0);
    if (before->rank == rank) {
        scopes |= 1u << SAME_RANK;
        const int ranked =
            before->command == DRAM_PREA || before->command == DRAM_REF || after == DRAM_PREA || after == DRAM_REF;
        if (!ranked && before->bank / rules->banks == bank / rules->banks)
            scopes |= 1u << SAME_GROUP;
        if (!ranked && before->bank == bank)
            scopes |= 1u << SAME_BANK;
    }
    for (uint32_t scope = 0; scope < RULES_SCOPES; ++scope)
        if (scopes >> scope & 1u && rules->distance[scope][before->command][after] > most)
            most = rules->distance[scope][before->command][after];
    return most;
}

uint64_t rules_earliest(const struct rules *rules, enum dram_command command, uint32_t rank, uint32_t bank)
{
    uint64_t earliest = 1;
    for (uint64_t i = 0; i < RULES_HISTORY && i < rules->count; ++i) {
        const struct rules_command *before = &rules->history[(rules->count - 1u - i) % RULES_HISTORY];
        if (before->clock + RULES_WINDOW < rules->history[(rules->count - 1u) % RULES_HISTORY].clock)
            break;
        const uint64_t least = before->clock + distance(rules, before, command, rank, bank);
        if (least > earliest)
            earliest = least;
    }
    const uint64_t refresh_end =
        rules->refreshed[rank] + rules->t[DRAM_T_rfc] + (command == DRAM_REF ? rules->refresh_more : 0);
    if ((command == DRAM_ACT || command == DRAM_REF) && rules->refreshed[rank] && refresh_end > earliest)
        earliest = refresh_end;
    if (command == DRAM_ACT && rules->act_count[rank] >= 4 &&
        rules->acts[rank][rules->act_count[rank] % 4u] + rules->t[DRAM_T_faw] > earliest)
        earliest = rules->acts[rank][rules->act_count[rank] % 4u] + rules->t[DRAM_T_faw];
    return earliest;
}

static const char *check_state(const struct rules *rules, const struct rules_command *command)
{
    const uint32_t banks = rules->groups * rules->banks;
    const int ranked = command->command == DRAM_PREA || command->command == DRAM_REF;
    if (command->command == DRAM_ACT_2)
        return rules->second_bank != command->bank || rules->second_by < command->clock ? "no second command" : NULL;
    if (rules->second_by &&
        (command->command == DRAM_ACT ||
         (ranked ? rules->second_bank / banks == command->rank : rules->second_bank == command->bank)))
        return "an ACT is not complete";
    switch (command->command) {
    case DRAM_ACT:
        return rules->open[command->bank] ? "ACT to an open bank" : NULL;
    case DRAM_RD:
    case DRAM_RDA:
    case DRAM_WR:
    case DRAM_WRA:
        return !rules->open[command->bank] || rules->row[command->bank] != command->row ? "the row is not open" : NULL;
    case DRAM_REF:
        for (uint32_t i = 0; i < banks; ++i)
            if (rules->open[command->rank * banks + i])
                return "REF with an open bank";
        return NULL;
    default:
        return NULL;
    }
}

const char *rules_issue(struct rules *rules, const struct rules_command *command)
{
    const uint32_t banks = rules->groups * rules->banks;
    const char *wrong = check_state(rules, command);
    if (rules->count && rules->history[(rules->count - 1u) % RULES_HISTORY].clock > command->clock)
        wrong = "before the one before it";
    else if (rules_earliest(rules, command->command, command->rank, command->bank) > command->clock)
        wrong = "too early";
    rules->history[rules->count++ % RULES_HISTORY] = *command;
    if (command->command == DRAM_ACT) {
        rules->acts[command->rank][rules->act_count[command->rank]++ % 4u] = command->clock;
        rules->open[command->bank] = 1;
        rules->row[command->bank] = command->row;
        rules->second_by = rules->t[DRAM_T_aad] ? command->clock + rules->t[DRAM_T_aad] : 0;
        rules->second_bank = command->bank;
    } else if (command->command == DRAM_ACT_2) {
        rules->second_by = 0;
    } else if (command->command == DRAM_PRE || command->command == DRAM_RDA || command->command == DRAM_WRA) {
        rules->open[command->bank] = 0;
    } else if (command->command == DRAM_PREA) {
        memset(&rules->open[command->rank * banks], 0, banks * sizeof rules->open[0]);
    } else if (command->command == DRAM_REF) {
        rules->refreshed[command->rank] = command->clock;
    }
    return wrong;
}
