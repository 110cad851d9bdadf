/* SPDX-License-Identifier: Apache-2.0 */
/* ELF reader, see elf_file.h. The file is little-endian, as all supported hosts are. */
#include "elf_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "input_file.h"

/* Larger files do not fit into a 32-bit core's memory. */
static const size_t max_file_size = (size_t)1 << 30;

/* True if `count` entries of `entry` bytes at `offset` lie inside the file. */
static int lies_in(const struct cnnvp_elf *elf, uint64_t offset, uint64_t count, uint64_t entry)
{
    return offset <= elf->size && count * entry <= elf->size - offset;
}

static Elf32_Shdr section_at(const struct cnnvp_elf *elf, uint32_t index)
{
    Elf32_Shdr section;
    memcpy(&section, elf->data + elf->header.e_shoff + (size_t)index * elf->header.e_shentsize, sizeof section);
    return section;
}

static Elf32_Sym symbol_at(const struct cnnvp_elf *elf, size_t index)
{
    Elf32_Sym symbol;
    memcpy(&symbol, elf->symbols + index * sizeof symbol, sizeof symbol);
    return symbol;
}

static cnnvp_result read_header(struct cnnvp_elf *elf, const char *name, struct cnnvp_error *error)
{
    Elf32_Ehdr *header = &elf->header;

    if (elf->size < SELFMAG || memcmp(elf->data, ELFMAG, SELFMAG) != 0)
        return cnnvp_config_error(error, name, "is not an ELF file");
    if (elf->size < sizeof *header)
        return cnnvp_config_error(
            error, name, "is cut off: it has %zu bytes, an ELF header alone has %zu", elf->size, sizeof *header);
    memcpy(header, elf->data, sizeof *header);
    if (header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_RISCV)
        return cnnvp_config_error(
            error, name, "is for RV64, the core is RV32; compile with -march=rv32imac -mabi=ilp32");
    if (header->e_ident[EI_CLASS] != ELFCLASS32 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_machine != EM_RISCV)
        return cnnvp_config_error(error, name,
                                  "is for another machine; a 32-bit little-endian RISC-V program is needed "
                                  "(class %u, data %u, machine %u)",
                                  header->e_ident[EI_CLASS], header->e_ident[EI_DATA], header->e_machine);
    if (header->e_type != ET_EXEC)
        return cnnvp_config_error(
            error, name, "is not an executable (ELF type %u); link it, without -pie or -r", header->e_type);
    if (header->e_flags & (EF_RISCV_FLOAT_ABI | EF_RISCV_RVE))
        return cnnvp_config_error(
            error, name, "has the %s; compile with -march=rv32imac -mabi=ilp32",
            header->e_flags & EF_RISCV_RVE ? "ABI of RV32E" : "hard-float ABI, the core no such registers");
    return CNNVP_DONE;
}

static cnnvp_result read_segment(struct cnnvp_elf *elf, const Elf32_Phdr *header, uint32_t index, const char *name,
                                 struct cnnvp_error *error)
{
    if (!lies_in(elf, header->p_offset, header->p_filesz, 1))
        return cnnvp_config_error(
            error, name, "is cut off: segment %" PRIu32 " ends at byte %" PRIu64 ", the file at %zu", index,
            (uint64_t)header->p_offset + header->p_filesz, elf->size);
    if (header->p_filesz > header->p_memsz)
        return cnnvp_config_error(error, name, "segment %" PRIu32 " has more bytes in the file than in memory", index);
    if ((uint64_t)header->p_paddr + header->p_memsz > UINT64_C(1) << 32)
        return cnnvp_config_error(error, name, "segment %" PRIu32 " at 0x%08" PRIx32 " leaves the 32-bit address space",
                                  index, header->p_paddr);
    if (header->p_memsz > 0)
        elf->segments[elf->segment_count++] = (struct cnnvp_elf_segment){
            .address = header->p_paddr,
            .file_size = header->p_filesz,
            .memory_size = header->p_memsz,
            .data = elf->data + header->p_offset};
    return CNNVP_DONE;
}

static cnnvp_result read_segments(struct cnnvp_elf *elf, const char *name, struct cnnvp_error *error)
{
    const Elf32_Ehdr *of = &elf->header;
    int entry_is_loaded = 0;

    if (of->e_phnum == 0)
        return cnnvp_config_error(error, name, "has no segments to load");
    if (of->e_phentsize < sizeof(Elf32_Phdr))
        return cnnvp_config_error(
            error, name, "has program headers of %u bytes, %zu are needed", of->e_phentsize, sizeof(Elf32_Phdr));
    if (!lies_in(elf, of->e_phoff, of->e_phnum, of->e_phentsize))
        return cnnvp_config_error(error, name, "is cut off: its program headers are outside the file");
    elf->segments = calloc(of->e_phnum, sizeof *elf->segments);
    if (elf->segments == NULL)
        return cnnvp_config_error(error, name, "there is not enough memory");
    for (uint32_t i = 0; i < of->e_phnum; ++i) {
        Elf32_Phdr header;

        memcpy(&header, elf->data + of->e_phoff + (size_t)i * of->e_phentsize, sizeof header);
        if (header.p_type != PT_LOAD)
            continue;
        CNNVP_TRY(read_segment(elf, &header, i, name, error));
        entry_is_loaded |= of->e_entry - header.p_vaddr < header.p_memsz;
    }
    if (elf->segment_count == 0)
        return cnnvp_config_error(error, name, "has no segments to load");
    if (!entry_is_loaded)
        return cnnvp_config_error(error, name, "its entry 0x%08" PRIx32 " is in no segment", of->e_entry);
    return CNNVP_DONE;
}

static cnnvp_result read_symbols(struct cnnvp_elf *elf, const char *name, struct cnnvp_error *error)
{
    const Elf32_Ehdr *of = &elf->header;

    if (of->e_shnum == 0)
        return CNNVP_DONE; /* stripped */
    if (of->e_shentsize < sizeof(Elf32_Shdr) || !lies_in(elf, of->e_shoff, of->e_shnum, of->e_shentsize))
        return cnnvp_config_error(error, name, "is cut off: its section headers are outside the file");
    for (uint32_t i = 0; i < of->e_shnum; ++i) {
        const Elf32_Shdr section = section_at(elf, i);

        if (section.sh_type != SHT_SYMTAB)
            continue;
        const Elf32_Shdr strings = section.sh_link < of->e_shnum ? section_at(elf, section.sh_link) : section;

        if (section.sh_link >= of->e_shnum || !lies_in(elf, section.sh_offset, section.sh_size, 1) ||
            !lies_in(elf, strings.sh_offset, strings.sh_size, 1))
            return cnnvp_config_error(error, name, "is cut off: its symbol table is outside the file");
        elf->symbols = elf->data + section.sh_offset;
        elf->symbol_count = section.sh_size / sizeof(Elf32_Sym);
        elf->names = (const char *)elf->data + strings.sh_offset;
        elf->names_size = strings.sh_size;
    }
    return CNNVP_DONE;
}

cnnvp_result cnnvp_elf_take(const char *name, uint8_t *data, size_t size, struct cnnvp_elf **elf,
                            struct cnnvp_error *error)
{
    struct cnnvp_elf *made = calloc(1, sizeof *made);
    cnnvp_result result;

    *elf = NULL;
    if (made == NULL) {
        free(data);
        return cnnvp_config_error(error, name, "there is not enough memory");
    }
    made->data = data;
    made->size = size;
    result = read_header(made, name, error);
    if (result == CNNVP_DONE)
        result = read_segments(made, name, error);
    if (result == CNNVP_DONE)
        result = read_symbols(made, name, error);
    if (result == CNNVP_DONE)
        *elf = made;
    else
        cnnvp_elf_free(made);
    return result;
}

cnnvp_result cnnvp_elf_read(const char *file, struct cnnvp_elf **elf, struct cnnvp_error *error)
{
    size_t size = 0;
    const int descriptor = cnnvp_input_open(file, "a program", &size, error);

    *elf = NULL;
    if (descriptor < 0)
        return CNNVP_BAD_INPUT;
    uint8_t *data = size <= max_file_size ? malloc(size + 1u) : NULL;
    const ssize_t got = data != NULL ? read(descriptor, data, size) : -1;
    const int reason = errno;

    (void)close(descriptor);
    if (got == (ssize_t)size)
        return cnnvp_elf_take(file, data, size, elf, error);
    free(data);
    if (size > max_file_size)
        return cnnvp_config_error(error, file, "has %zu bytes; no program of a 32-bit core is that large", size);
    return cnnvp_config_error(error, file, "cannot be read: %s", got < 0 ? strerror(reason) : "it has become shorter");
}

void cnnvp_elf_free(struct cnnvp_elf *elf)
{
    if (elf == NULL)
        return;
    free(elf->segments);
    free(elf->data);
    free(elf);
}

int cnnvp_elf_symbol(const struct cnnvp_elf *elf, const char *name, uint32_t *value)
{
    const size_t length = strlen(name);

    for (size_t i = 0; i < elf->symbol_count; ++i) {
        const Elf32_Sym symbol = symbol_at(elf, i);

        if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= elf->names_size ||
            elf->names_size - symbol.st_name <= length)
            continue;
        if (memcmp(elf->names + symbol.st_name, name, length + 1) == 0) {
            *value = symbol.st_value;
            return 1;
        }
    }
    return 0;
}

/* 1 if section `index` holds instructions. */
static int is_code(const struct cnnvp_elf *elf, uint32_t index)
{
    return index != 0 && index < elf->header.e_shnum && (section_at(elf, index).sh_flags & SHF_EXECINSTR) != 0;
}

int cnnvp_elf_function(const struct cnnvp_elf *elf, size_t index, const char **name, uint32_t *address)
{
    const Elf32_Sym symbol = symbol_at(elf, index);
    const unsigned type = ELF32_ST_TYPE(symbol.st_info);

    if (type > STT_FUNC || type == STT_OBJECT || !is_code(elf, symbol.st_shndx) || symbol.st_name >= elf->names_size)
        return 0;
    *name = elf->names + symbol.st_name;
    *address = symbol.st_value;
    /* $x marks the begin of code; names with .L are the compiler's own labels. */
    return **name != '\0' && **name != '$' && **name != '.' &&
           memchr(*name, '\0', elf->names_size - symbol.st_name) != NULL;
}

int cnnvp_elf_object(const struct cnnvp_elf *elf, size_t index, uint32_t *address, uint32_t *size)
{
    const Elf32_Sym symbol = symbol_at(elf, index);

    *address = symbol.st_value;
    *size = symbol.st_size;
    return ELF32_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF;
}
