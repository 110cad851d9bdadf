/* SPDX-License-Identifier: Apache-2.0 */
/* Connects the C API to the platform's memory and core: an initiator on the bus that uses only debug transport and
 * direct memory, and one at the core's control port. */
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>

#include "cnnvp.h"
#include "cnnvp_program.h"
#include "run_control.h"
extern "C" {
#include "elf_file.h"
#include "symbols.h"
}

namespace cnnvp {

class loader final : public sc_core::sc_module {
public:
    loader(const sc_core::sc_module_name &name, run_control &control);

    tlm_utils::simple_initiator_socket_optional<loader> memory;
    tlm_utils::simple_initiator_socket_optional<loader> core;

    /* These return false if there is no memory at the address. */
    bool read(uint64_t address, void *data, size_t size);
    bool write(uint64_t address, const void *data, size_t size);
    bool map(uint64_t address, size_t size, void **data);
    /* Makes a bus access with its side effects, or by debug transport if its flags say so. Returns a status. */
    int pass(cnnvp_access &access);
    /* Declares memory that the next program reads in all steps or in one step of its work; passed on to the core. */
    void hold(const cnnvp_program_range &range);
    void hold(const cnnvp_program_table &table);
    /* Last address of the memory that contains `address`; false if there is none. */
    bool end_of_memory(uint64_t address, uint64_t *end);
    /* Writes the segments and tells the core its start address. */
    cnnvp_result load(const cnnvp_elf &elf, const char *name, int argc, char *const *args, cnnvp_error *error);

private:
    run_control &control_;
    std::vector<std::string> words_; /* command line of the program */
    std::vector<char *> argv_;
    std::unique_ptr<cnnvp_symbols, void (*)(cnnvp_symbols *)> symbols_{nullptr, cnnvp_symbols_free};
    std::vector<cnnvp_program_range> held_;
    std::vector<cnnvp_program_table> tables_;

    /* Direct memory at `address`, up to the address `end`; false if there is none. */
    bool direct(uint64_t address, unsigned char **data, uint64_t *end);
    bool each_direct(uint64_t address, size_t size, const std::function<void(unsigned char *, size_t)> &use);
    bool transfer(uint32_t op, uint64_t address, unsigned char *data, size_t size);
    bool debug(uint32_t op, uint64_t address, unsigned char *data, size_t size);
    bool clear(uint64_t address, size_t size);
    bool read_symbols(const cnnvp_elf &elf);
    int start(uint32_t entry, uint32_t tohost, const std::vector<cnnvp_program_range> &held,
              const std::vector<cnnvp_program_table> &tables, uint32_t stack);
    void refuse_segment(const char *name, const cnnvp_elf_segment &segment, cnnvp_error *error);
};

} // namespace cnnvp
