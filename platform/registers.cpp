/* SPDX-License-Identifier: Apache-2.0 */
/* Register tables, see registers.h. */
#include "registers.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cnnvp {

namespace {
constexpr uint64_t word = sizeof(uint32_t);
constexpr size_t max_words = 1024; /* registers up to here are found without a search */
}

register_file::register_file(const cnnvp_unit &unit, void *self, warn_function warn)
    : unit_(unit), self_(static_cast<unsigned char *>(self)), warn_(std::move(warn))
{
    for (uint32_t i = 0; i < unit.register_count; ++i)
        entries_.push_back({unit.registers[i].offset, i, false});
    std::sort(entries_.begin(), entries_.end(), [](const entry &a, const entry &b) { return a.offset < b.offset; });
    words_.resize(entries_.empty() ? 0 : std::min<size_t>(entries_.back().offset / word + 1, max_words));
    for (uint32_t i = 0; i < entries_.size() && entries_[i].offset / word < words_.size(); ++i)
        words_[entries_[i].offset / word] = i + 1;
}

void register_file::reset()
{
    for (uint32_t i = 0; i < unit_.register_count; ++i)
        store(unit_.registers[i], unit_.registers[i].reset);
}

const register_file::entry *register_file::find(uint64_t offset) const
{
    if (offset % word == 0 && offset / word < words_.size()) {
        const uint32_t place = words_[offset / word];
        return place ? &entries_[place - 1] : nullptr;
    }
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), offset, [](const entry &entry, uint64_t wanted) {
        return entry.offset < wanted;
    });
    return at != entries_.end() && at->offset == offset ? &*at : nullptr;
}

bool register_file::serves(uint64_t address, uint64_t size) const
{
    if (size == word && find(address))
        return true;
    const uint64_t first = address & ~(word - 1);
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), first, [](const entry &entry, uint64_t wanted) {
        return entry.offset < wanted;
    });
    return at != entries_.end() && size > 0 && at->offset <= address + (size - 1);
}

uint32_t register_file::load(const cnnvp_register &reg) const
{
    uint32_t value;
    std::memcpy(&value, self_ + reg.storage, sizeof value);
    return value;
}

void register_file::store(const cnnvp_register &reg, uint32_t value)
{
    std::memcpy(self_ + reg.storage, &value, sizeof value);
}

void register_file::warn_once(entry &entry, const char *mistake)
{
    if (entry.warned)
        return;
    entry.warned = true;
    warn_(std::string(mistake) + " register " + unit_.registers[entry.index].name);
}

int register_file::read(entry &entry, uint32_t *value)
{
    const cnnvp_register &reg = unit_.registers[entry.index];

    *value = 0;
    if (reg.access == CNNVP_REG_WO) {
        warn_once(entry, "read of write-only");
        return CNNVP_OK;
    }
    const int status = unit_.reg_read ? unit_.reg_read(self_, entry.index) : CNNVP_OK;
    if (status >= CNNVP_OK)
        *value = load(reg);
    return status;
}

int register_file::write(entry &entry, uint32_t value)
{
    const cnnvp_register &reg = unit_.registers[entry.index];
    const uint32_t old = load(reg);

    switch (reg.access) {
    case CNNVP_REG_RO:
        warn_once(entry, "write to read-only");
        return CNNVP_OK;
    case CNNVP_REG_W1C:
        store(reg, old & ~(value & reg.mask));
        break;
    default:
        store(reg, (old & ~reg.mask) | (value & reg.mask));
        break;
    }
    return unit_.reg_written ? unit_.reg_written(self_, entry.index, old) : CNNVP_OK;
}

int register_file::access(cnnvp_access &access)
{
    if (access.size != word || access.address % word != 0)
        return CNNVP_E_ACCESS;
    auto *entry = const_cast<register_file::entry *>(find(access.address));
    if (!entry)
        return CNNVP_E_ADDR;
    if (!access.data)
        return CNNVP_E_INVAL;

    uint32_t value;
    if (access.op == CNNVP_WRITE) {
        std::memcpy(&value, access.data, sizeof value);
        return write(*entry, value);
    }
    const int status = read(*entry, &value);
    std::memcpy(access.data, &value, sizeof value);
    return status;
}

uint32_t register_file::peek(uint32_t index) const
{
    const cnnvp_register &reg = unit_.registers[index];
    if (reg.access == CNNVP_REG_WO)
        return 0;
    if (reg.access != CNNVP_REG_RWE && unit_.reg_read)
        (void)unit_.reg_read(self_, index);
    return load(reg);
}

int register_file::debug(cnnvp_access &access) const
{
    if (access.op != CNNVP_READ)
        return CNNVP_E_NOSUP;
    if (access.size % word != 0 || access.address % word != 0)
        return CNNVP_E_ACCESS;
    if (!access.data)
        return CNNVP_E_INVAL;
    for (uint64_t done = 0; done < access.size; done += word) {
        const entry *entry = find(access.address + done);
        if (!entry)
            return CNNVP_E_ADDR;
        const uint32_t value = peek(entry->index);
        std::memcpy(static_cast<unsigned char *>(access.data) + done, &value, word);
    }
    return CNNVP_OK;
}

} // namespace cnnvp
