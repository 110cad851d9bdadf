/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policies that a controller offers. Each entry names a function table (dram_policy.h). To add one, write its
 * functions and its line here: the parameter, its help and the tests' choices come from these lists. The first entry of
 * a list is the default.
 */
#pragma once

#define DRAM_SCHEDULERS(POLICY)                                                                                      \
    POLICY(fr_fcfs, "fr-fcfs",                                                                                       \
           "the oldest burst whose next command can issue; row hits may keep another row of their bank waiting, at " \
           "most until the next refresh")                                                                            \
    POLICY(fcfs, "fcfs", "one burst after the other")                                                                \
    POLICY(                                                                                                          \
        fr_fcfs_row_hit, "fr-fcfs-row-hit",                                                                          \
        "as fr-fcfs, but a row stays open while a burst to it waits that arrived no later than those to other rows")

#define DRAM_ROW_POLICIES(POLICY)                                                    \
    POLICY(open, "open", "a row stays open until another row of its bank is needed") \
    POLICY(closed, "closed", "a row is precharged with its last waiting access")

#define DRAM_REFRESHES(POLICY)                                                   \
    POLICY(all_ranks, "all-ranks", "all ranks every t_refi, one after another")  \
    POLICY(staggered, "staggered", "each rank every t_refi, at different times") \
    POLICY(ideal, "ideal", "never, as no real part allows: shows the cost of refresh")

#define DRAM_ARBITERS(POLICY)                                                                              \
    POLICY(round_robin, "round-robin",                                                                     \
           "among requesters whose next burst could enter, the one whose last burst is longest ago")       \
    POLICY(priority, "priority", "the one with the largest number in `shares`; equal ones by round-robin") \
    POLICY(weighted, "weighted", "while several wait, each gets bursts in proportion to its number in `shares`")

/* DRAM_CHOICES(list) is "A|B", DRAM_HELP(list) is "A: help of A; B: help of B". */
#define DRAM_CHOICE(symbol, name, help) "|" name
#define DRAM_CHOICES(list) (&(list(DRAM_CHOICE))[1])
#define DRAM_CHOICE_HELP(symbol, name, help) "; " name ": " help
#define DRAM_HELP(list) (&(list(DRAM_CHOICE_HELP))[2])
