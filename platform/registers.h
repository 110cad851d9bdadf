/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves a unit's register table (struct cnnvp_register): access rights, masks, write-one-to-clear, reset values.
 * Registers are 32 bits wide and only accessed as a whole; another size or alignment is CNNVP_E_ACCESS. A guest's
 * mistakes (writing a read-only register, reading a write-only one) are answered with CNNVP_OK and one warning for each
 * register.
 */
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cnnvp_model.h"

namespace cnnvp {

class register_file {
public:
    using warn_function = std::function<void(const std::string &)>;

    register_file(const cnnvp_unit &unit, void *self, warn_function warn);

    void reset();
    /* True if [address, address + size) touches a register. */
    bool serves(uint64_t address, uint64_t size) const;
    /* Reads or writes one register with its side effects. */
    int access(cnnvp_access &access);
    /* Reads words without side effects; writes are CNNVP_E_NOSUP. */
    int debug(cnnvp_access &access) const;
    /* Value of a register by its index in the unit's table, without side effects. */
    uint32_t peek(uint32_t index) const;

private:
    struct entry {
        uint32_t offset;
        uint32_t index; /* index in the unit's table */
        bool warned;
    };

    const cnnvp_unit &unit_;
    unsigned char *self_;
    warn_function warn_;
    std::vector<entry> entries_;  /* sorted by offset */
    std::vector<uint32_t> words_; /* by word, for the first words: index in entries_ + 1; 0: no register */

    const entry *find(uint64_t offset) const;
    uint32_t load(const cnnvp_register &reg) const;
    void store(const cnnvp_register &reg, uint32_t value);
    int read(entry &entry, uint32_t *value);
    int write(entry &entry, uint32_t value);
    void warn_once(entry &entry, const char *mistake);
};

} // namespace cnnvp
