/* SPDX-License-Identifier: Apache-2.0 */
/* Loads programs and accesses memory from outside, see loader.h. */
#include "loader.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "cnnvp_program.h"

namespace cnnvp {

namespace {
constexpr uint64_t usual_memory = 0x80000000; /* where programs expect memory */
constexpr size_t piece = size_t(1) << 20;     /* bytes per debug transaction; TLM's length has 32 bits */
}

loader::loader(const sc_core::sc_module_name &name, run_control &control)
    : sc_core::sc_module(name), memory("memory"), core("core"), control_(control)
{
}

bool loader::direct(uint64_t address, unsigned char **data, uint64_t *end)
{
    tlm::tlm_generic_payload payload;
    tlm::tlm_dmi dmi;

    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(address);
    if (memory.size() == 0 || !memory->get_direct_mem_ptr(payload, dmi) || !dmi.is_read_write_allowed() ||
        address < dmi.get_start_address() || address > dmi.get_end_address())
        return false;
    *data = dmi.get_dmi_ptr() + (address - dmi.get_start_address());
    *end = dmi.get_end_address();
    return true;
}

bool loader::map(uint64_t address, size_t size, void **data)
{
    unsigned char *bytes;
    uint64_t end;

    *data = nullptr;
    if (size == 0 || !direct(address, &bytes, &end) || end - address < size - 1)
        return false;
    *data = bytes;
    return true;
}

bool loader::end_of_memory(uint64_t address, uint64_t *end)
{
    unsigned char *bytes;

    return direct(address, &bytes, end);
}

int loader::pass(cnnvp_access &access)
{
    payload_extension *extension;
    tlm::tlm_generic_payload *payload = control_.pool().acquire(&extension);
    sc_core::sc_time delay = from_ps(access.delay);

    describe(*payload, access);
    extension->access = &access;
    int status = CNNVP_OK;
    if (!(access.flags & CNNVP_DEBUG))
        memory->b_transport(*payload, delay);
    else if (memory->transport_dbg(*payload) != access.size)
        status = CNNVP_E_ADDR;
    access.delay = to_ps(delay);
    if (extension->answered)
        status = extension->status;
    payload->release();
    return status;
}

bool loader::debug(uint32_t op, uint64_t address, unsigned char *data, size_t size)
{
    cnnvp_access access = outside_access(op, CNNVP_DEBUG | CNNVP_UNTIMED, address, data, size);
    return pass(access) >= CNNVP_OK;
}

/* A memory may give direct memory piece by piece, such as page by page. Calls `use` with each piece. */
bool loader::each_direct(uint64_t address, size_t size, const std::function<void(unsigned char *, size_t)> &use)
{
    unsigned char *bytes;
    uint64_t end;

    for (size_t done = 0, some; done < size; done += some) {
        if (!direct(address + done, &bytes, &end))
            return false;
        some = static_cast<size_t>(std::min<uint64_t>(size - done - 1, end - (address + done))) + 1;
        use(bytes, some);
    }
    return true;
}

bool loader::transfer(uint32_t op, uint64_t address, unsigned char *data, size_t size)
{
    if (memory.size() == 0)
        return false;
    /* nothing is written unless all of it can be */
    if (each_direct(address, size, [](unsigned char *, size_t) {}))
        return each_direct(address, size, [&](unsigned char *bytes, size_t some) {
            std::memcpy(op == CNNVP_READ ? data : bytes, op == CNNVP_READ ? bytes : data, some);
            data += some;
        });
    for (size_t done = 0; done < size; done += piece)
        if (!debug(op, address + done, data + done, std::min(piece, size - done)))
            return false;
    return true;
}

bool loader::read(uint64_t address, void *data, size_t size)
{
    return transfer(CNNVP_READ, address, static_cast<unsigned char *>(data), size);
}

bool loader::write(uint64_t address, const void *data, size_t size)
{
    /* A write does not change the data; TLM's data pointer is not const. */
    return transfer(CNNVP_WRITE, address, static_cast<unsigned char *>(const_cast<void *>(data)), size);
}

bool loader::clear(uint64_t address, size_t size)
{
    static const unsigned char zeros[4096] = {};
    void *direct;

    if (map(address, size, &direct)) {
        /* Do not touch pages that are zero already, so that unused memory stays without pages. */
        auto *bytes = static_cast<unsigned char *>(direct);
        for (size_t done = 0; done < size; done += sizeof zeros) {
            const size_t some = std::min(sizeof zeros, size - done);
            if (std::memcmp(bytes + done, zeros, some) != 0)
                std::memset(bytes + done, 0, some);
        }
        return true;
    }
    for (size_t done = 0; done < size; done += sizeof zeros)
        if (!write(address + done, zeros, std::min(sizeof zeros, size - done)))
            return false;
    return true;
}

void loader::hold(const cnnvp_program_range &range)
{
    held_.push_back(range);
}

void loader::hold(const cnnvp_program_table &table)
{
    tables_.push_back(table);
}

int loader::start(uint32_t entry, uint32_t tohost, const std::vector<cnnvp_program_range> &held,
                  const std::vector<cnnvp_program_table> &tables, uint32_t stack)
{
    payload_extension *extension;
    tlm::tlm_generic_payload *payload = control_.pool().acquire(&extension);
    cnnvp_cpu_program program{};
    cnnvp_access access = outside_access(CNNVP_COMMAND, CNNVP_UNTIMED, 0, &program, sizeof program);
    sc_core::sc_time none;

    program.entry = entry;
    program.tohost = tohost;
    program.argc = static_cast<uint32_t>(words_.size());
    program.argv = argv_.data();
    program.follow_calls = control_.recorder() && control_.recorder()->trace != nullptr;
    if (program.follow_calls)
        cnnvp_recorder_set_functions(
            control_.recorder(),
            [](const void *context, uint64_t at) {
                uint32_t begin;
                return cnnvp_symbols_function(
                    static_cast<const cnnvp_symbols *>(context), static_cast<uint32_t>(at), &begin);
            },
            symbols_.get());
    if (control_.settings().profile)
        program.profiler = cnnvp_profile_profiler(control_.settings().profile, words_.front().c_str(), symbols_.get());
    program.held = held.data();
    program.held_count = static_cast<uint32_t>(held.size());
    program.tables = tables.data();
    program.table_count = static_cast<uint32_t>(tables.size());
    program.stack = stack;
    if (control_.settings().gdb)
        program.debugger = cnnvp_gdb_debugger(control_.settings().gdb, words_.front().c_str());
    describe(*payload, access);
    extension->access = &access;
    core->b_transport(*payload, none);
    const int status = extension->answered ? extension->status : int(CNNVP_E_NOSUP);
    payload->release();
    return status;
}

/* Reads the symbols for a trace or a profile; false if out of memory. */
bool loader::read_symbols(const cnnvp_elf &elf)
{
    const bool profiles = control_.settings().profile != nullptr;

    symbols_.reset();
    if (!profiles && !(control_.recorder() && control_.recorder()->trace != nullptr))
        return true;
    symbols_.reset(cnnvp_symbols_new(&elf, profiles));
    return symbols_ != nullptr;
}

/* Reports a segment that no memory contains or that memory answers with an error, with advice. Linkers put the file's
 * own headers before a page-aligned program unless told otherwise. */
void loader::refuse_segment(const char *name, const cnnvp_elf_segment &segment, cnnvp_error *error)
{
    const bool headers = segment.file_size >= 4 && std::memcmp(segment.data, "\177ELF", 4) == 0;
    uint64_t end;
    char advice[96] = "";

    if (headers)
        std::snprintf(advice, sizeof advice, "; the segment begins with the file's own headers: link with -Wl,-n");
    else if (end_of_memory(segment.address, &end))
        std::snprintf(advice, sizeof advice, "; the memory there ends at 0x%08" PRIx64, end);
    else if (end_of_memory(usual_memory, &end))
        std::snprintf(advice, sizeof advice, "; link it for 0x%08" PRIx64 "..0x%08" PRIx64, usual_memory, end);
    std::snprintf(error->text, sizeof error->text,
                  "%s: it needs memory at 0x%08" PRIx32 "..0x%08" PRIx64 ", which no memory of this platform takes%s",
                  name, segment.address, uint64_t(segment.address) + segment.memory_size - 1, advice);
}

namespace {

/* Arrays of at least this many bytes count as data, which stay in off-chip memory. Only the largest ones do, since a
 * core describes what it holds by a few ranges. */
constexpr uint32_t array_bytes = 4096;
constexpr size_t most_arrays = 24;

using ranges = std::vector<cnnvp_program_range>;

/* Large arrays, sorted by address. Excludes any that contain the stack. */
ranges arrays_of(const cnnvp_elf &elf, uint32_t stack)
{
    ranges arrays;
    uint32_t address, size;

    for (size_t i = 0; i < elf.symbol_count; ++i)
        if (cnnvp_elf_object(&elf, i, &address, &size) && size >= array_bytes && stack - 1 - address >= size)
            arrays.push_back({address, size});
    std::sort(arrays.begin(), arrays.end(), [](const cnnvp_program_range &a, const cnnvp_program_range &b) {
        return a.size != b.size ? a.size > b.size : a.address < b.address;
    });
    arrays.erase(std::unique(arrays.begin(), arrays.end(),
                             [](const cnnvp_program_range &a, const cnnvp_program_range &b) {
                                 return a.address == b.address && a.size == b.size; // two names of one array
                             }),
                 arrays.end());
    arrays.resize(std::min(arrays.size(), most_arrays));
    std::sort(arrays.begin(), arrays.end(),
              [](const cnnvp_program_range &a, const cnnvp_program_range &b) { return a.address < b.address; });
    return arrays;
}

/* Adds the parts of a segment outside the arrays. */
void add_without(const ranges &arrays, const cnnvp_elf_segment &segment, ranges &held)
{
    const uint64_t end = uint64_t(segment.address) + segment.memory_size;
    uint64_t from = segment.address;

    for (const cnnvp_program_range &array : arrays) {
        const uint64_t behind = uint64_t(array.address) + array.size;
        if (behind <= from || array.address >= end)
            continue;
        if (array.address > from)
            held.push_back({uint32_t(from), uint32_t(array.address - from)});
        from = behind;
    }
    if (from < end)
        held.push_back({uint32_t(from), uint32_t(end - from)});
}

} // namespace

cnnvp_result loader::load(const cnnvp_elf &elf, const char *name, int argc, char *const *args, cnnvp_error *error)
{
    uint32_t tohost = 0, stack = 0;
    std::vector<cnnvp_program_range> held, wanted;
    std::vector<cnnvp_program_table> tables;

    wanted.swap(held_);
    tables.swap(tables_);
    (void)cnnvp_elf_symbol(&elf, "tohost", &tohost);
    for (const char *symbol : {"__stack", "__stack_top", "_stack_top", "_sp"}) // picolibc's name, and others in use
        if (cnnvp_elf_symbol(&elf, symbol, &stack))
            break;
    const ranges arrays = arrays_of(elf, stack);
    for (size_t i = 0; i < elf.segment_count; ++i) {
        const cnnvp_elf_segment &segment = elf.segments[i];
        if (write(segment.address, segment.data, segment.file_size) &&
            clear(uint64_t(segment.address) + segment.file_size, segment.memory_size - segment.file_size)) {
            add_without(arrays, segment, held);
            continue;
        }
        refuse_segment(name, segment, error);
        return CNNVP_BAD_INPUT;
    }
    words_.assign(1, name);
    for (int i = 0; args && i < argc; ++i)
        words_.emplace_back(args[i]);
    argv_.clear();
    for (std::string &word : words_)
        argv_.push_back(word.data());
    argv_.push_back(nullptr);
    if (core.size() == 0) {
        std::snprintf(error->text, sizeof error->text, "%s: this platform has no core to run it", name);
        return CNNVP_BAD_INPUT;
    }
    if (!read_symbols(elf)) {
        std::snprintf(error->text, sizeof error->text, "%s: there is not enough memory for its symbols", name);
        return CNNVP_FAILED;
    }
    held.insert(held.end(), wanted.begin(), wanted.end());
    const int status = start(elf.header.e_entry, tohost, held, tables, stack);
    if (status < CNNVP_OK) {
        std::snprintf(error->text, sizeof error->text, "%s: the core refused it (%s)", name, cnnvp_status_text(status));
        return CNNVP_BAD_INPUT;
    }
    return CNNVP_DONE;
}

} // namespace cnnvp
