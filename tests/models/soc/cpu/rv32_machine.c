/* SPDX-License-Identifier: Apache-2.0 */
#include "rv32_machine.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t now(const struct machine *m)
{
    return m->slots_before_run + cnnvp_rv32_executed(m->core);
}

static int load(void *context, uint32_t address, unsigned size, uint32_t *value)
{
    struct machine *m = context;
    ++m->accesses;
    switch (address - MACHINE_DEVICE) {
    case 0x20:
        *value = (uint32_t)now(m);
        return size != 4;
    case 0x24:
        *value = size == 4 ? m->scratch : m->scratch & ((1u << 8 * size) - 1u);
        return 0;
    default:
        return -1;
    }
}

static int store(void *context, uint32_t address, unsigned size, uint32_t value)
{
    struct machine *m = context;
    (void)size;
    ++m->accesses;
    switch (address - MACHINE_DEVICE) {
    case 0x00:
        return m->quiet ? 0 : putchar((int)(value & 255u)) == EOF;
    case 0x10:
        cnnvp_rv32_set_irq(m->core, CNNVP_RV32_MSIP, value != 0);
        return 0;
    case 0x14:
        cnnvp_rv32_set_irq(m->core, CNNVP_RV32_MEIP, value != 0);
        return 0;
    case 0x18:
        cnnvp_rv32_set_irq(m->core, CNNVP_RV32_MTIP, 0);
        m->timer_at = value == 0 ? UINT64_MAX : now(m) + value;
        if (m->timer_at - m->slots_before_run < m->limit)
            cnnvp_rv32_limit(m->core, m->timer_at - m->slots_before_run);
        return 0;
    case 0x24:
        m->scratch = value;
        return 0;
    case 0x30:
        cnnvp_rv32_exit(m->core, value);
        return 0;
    default:
        return -1;
    }
}

static int semihost(void *context, uint32_t operation, uint32_t parameter, uint32_t *result)
{
    struct machine *m = context;
    m->semihost_op = operation;
    m->semihost_arg = parameter;
    *result = operation + 1u;
    return operation == 0xffu; /* one that is not handled */
}

int machine_init(struct machine *m)
{
    struct cnnvp_rv32_config config = {.bus = {.context = m, .load = load, .store = store, .semihost = semihost}};
    *m = (struct machine){.timer_at = UINT64_MAX};
    m->core = malloc(cnnvp_rv32_size());
    m->ram = calloc(1, MACHINE_RAM_SIZE);
    if (m->core == NULL || m->ram == NULL || cnnvp_rv32_init(m->core, &config) != 0) {
        free(m->core);
        free(m->ram);
        return -1;
    }
    return cnnvp_rv32_map_ram(m->core, MACHINE_RAM, MACHINE_RAM_SIZE, m->ram);
}

void machine_fini(struct machine *m)
{
    cnnvp_rv32_fini(m->core);
    free(m->core);
    free(m->ram);
}

void machine_poke(struct machine *m, uint32_t address, const uint32_t *words, size_t count)
{
    if (count > 0)
        memcpy(m->ram + (address - MACHINE_RAM), words, count * sizeof *words);
}

static int copy_segment(struct machine *m, const uint8_t *file, const Elf32_Phdr *segment)
{
    uint32_t offset = segment->p_paddr - MACHINE_RAM;
    if (segment->p_type != PT_LOAD || segment->p_memsz == 0)
        return 0;
    if (offset >= MACHINE_RAM_SIZE || segment->p_memsz > MACHINE_RAM_SIZE - offset)
        return -1;
    memcpy(m->ram + offset, file + segment->p_offset, segment->p_filesz);
    return 0;
}

static uint32_t find_symbol(const uint8_t *file, const Elf32_Ehdr *header, const char *name)
{
    for (unsigned i = 0; i < header->e_shnum; ++i) {
        Elf32_Shdr section, strings;
        memcpy(&section, file + header->e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_SYMTAB)
            continue;
        memcpy(&strings, file + header->e_shoff + section.sh_link * sizeof strings, sizeof strings);
        for (size_t at = 0; at < section.sh_size; at += sizeof(Elf32_Sym)) {
            Elf32_Sym symbol;
            memcpy(&symbol, file + section.sh_offset + at, sizeof symbol);
            if (strcmp((const char *)file + strings.sh_offset + symbol.st_name, name) == 0)
                return symbol.st_value;
        }
    }
    return 0;
}

static uint8_t *read_all(const char *path)
{
    FILE *in = fopen(path, "rb");
    uint8_t *data = NULL;
    long size;
    if (in == NULL)
        return NULL;
    if (fseek(in, 0, SEEK_END) == 0 && (size = ftell(in)) >= (long)sizeof(Elf32_Ehdr)) {
        data = malloc((size_t)size);
        rewind(in);
        if (data != NULL && fread(data, 1, (size_t)size, in) != (size_t)size) {
            free(data);
            data = NULL;
        }
    }
    (void)fclose(in);
    return data;
}

int machine_load_elf(struct machine *m, const char *path, uint32_t *entry, uint32_t *tohost)
{
    uint8_t *file = read_all(path);
    Elf32_Ehdr header;
    int result = 0;
    if (file == NULL || memcmp(file, ELFMAG "\1\1", SELFMAG + 2) != 0) {
        (void)fprintf(stderr, "%s: not a little-endian 32-bit ELF\n", path);
        free(file);
        return -1;
    }
    memcpy(&header, file, sizeof header);
    for (unsigned i = 0; i < header.e_phnum && result == 0; ++i) {
        Elf32_Phdr segment;
        memcpy(&segment, file + header.e_phoff + i * sizeof segment, sizeof segment);
        result = copy_segment(m, file, &segment);
    }
    if (result != 0)
        (void)fprintf(stderr, "%s: a segment lies outside RAM\n", path);
    *entry = header.e_entry;
    *tohost = find_symbol(file, &header, "tohost");
    free(file);
    return result;
}

enum cnnvp_rv32_reason machine_run(struct machine *m, uint64_t slots, uint64_t quantum)
{
    uint64_t end = m->slots_before_run + slots;
    enum cnnvp_rv32_reason reason = CNNVP_RV32_BUDGET;
    while (m->slots_before_run < end) {
        uint64_t executed;
        uint64_t until = end < m->timer_at ? end : m->timer_at;
        m->limit = until - m->slots_before_run < quantum ? until - m->slots_before_run : quantum;
        reason = cnnvp_rv32_run(m->core, m->limit, &executed);
        m->slots_before_run += executed;
        if (reason == CNNVP_RV32_WFI) {
            if (m->timer_at == UINT64_MAX)
                return reason;
            cnnvp_rv32_idle(m->core, m->timer_at - m->slots_before_run);
            m->slots_before_run = m->timer_at;
        } else if (reason != CNNVP_RV32_BUDGET && reason != CNNVP_RV32_IDLE_LOOP) {
            return reason;
        }
        if (m->slots_before_run >= m->timer_at) {
            m->timer_at = UINT64_MAX;
            cnnvp_rv32_set_irq(m->core, CNNVP_RV32_MTIP, 1);
        }
        if (reason == CNNVP_RV32_IDLE_LOOP && !cnnvp_rv32_can_wake(m->core))
            return reason;
    }
    return reason;
}
