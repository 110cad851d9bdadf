/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows a debugger's user what the instruction element holds: commands in flight, decoded instructions, words of the
 * queue. Instructions that no other unit can see may already have been executed ahead of time (advance.c); those are
 * not shown.
 */
#include "element.h"
#include "isa/isa.h"

enum { SHOWN_WORDS = 16 };

static void show_word(const struct element *self, const struct cnnvp_show *show, const char *where, uint64_t pc,
                      uint64_t word, const char *more)
{
    const struct isa_opcode *op = cnnvp_isa_decode(self->pipeline.extension, word);
    show->line(show->context, "%-9s word %llu 0x%016llx %s%s", where, (unsigned long long)pc, (unsigned long long)word,
               op != NULL ? op->mnemonic : "illegal", more);
}

static void show_commands(const struct element *self, const struct cnnvp_show *show, uint64_t now)
{
    for (uint32_t i = 0; i < self->ledger.count; ++i) {
        const struct ledger_command *command = &self->ledger.commands[i];
        if (command->end <= now)
            continue;
        show_word(self, show, "in flight", command->pc, command->word,
                  command->forgotten ? ", from before a reset" : "");
        if (command->end != LEDGER_UNKNOWN)
            show->line(show->context, "          layer %u, until %llu ps", command->tag,
                       (unsigned long long)cnnvp_edge_time(self->mhz, command->end));
        else
            show->line(show->context, "          layer %u, its end is not known yet", command->tag);
    }
}

void cnnvp_element_show(void *instance, const struct cnnvp_show *show)
{
    const struct element *self = instance;
    const struct pipeline *pipeline = &self->pipeline;
    const uint64_t now = cnnvp_element_cycle(self, self->ops->now(self->host));
    show->line(show->context, "%s, %llu words of %u in the queue, %llu more to be read from memory",
               self->fault.cause    ? "stopped by an error"
               : pipeline->halted   ? "halted"
               : !pipeline->enabled ? "not enabled"
                                    : "enabled",
               (unsigned long long)(pipeline->tail > pipeline->pc ? pipeline->tail - pipeline->pc : 0),
               pipeline->queue_depth, (unsigned long long)self->fetch.remaining);
    show_commands(self, show, now);
    for (uint64_t n = pipeline->issued; n < pipeline->fetched; ++n) {
        const struct pipeline_entry *entry = &pipeline->entries[n & pipeline->sequence_mask];
        show_word(self, show, "decoded", entry->pc, entry->word, "");
    }
    for (uint64_t pc = pipeline->pc; pc < pipeline->tail && pc < pipeline->pc + SHOWN_WORDS; ++pc)
        show_word(self, show, "queue", pc, pipeline->words[pc & pipeline->queue_mask], "");
    if (pipeline->tail > pipeline->pc + SHOWN_WORDS)
        show->line(show->context, "queue     and %llu more",
                   (unsigned long long)(pipeline->tail - pipeline->pc - SHOWN_WORDS));
}
