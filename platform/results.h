/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that units compute correct results (check_results): compares the contents of a unit's buffers after a command
 * with the result of the reference (models/reference) on the previous contents. Every byte is compared, so writes
 * outside of the results are found too.
 */
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cnnvp.h"
extern "C" {
#include "config.h"
#include "reference/reference.h"
}

namespace cnnvp {

/* Counts of the whole platform. */
struct results_total {
    uint64_t compared = 0;
    uint64_t wrong = 0;
    std::string first;                                    /* the first wrong command */
    uint64_t without[UINT8_MAX + 1] = {};                 /* by opcode: commands without a reference */
    void fill(struct cnnvp_results_check *results) const; /* converts to the C struct */
};

/* Check of one unit. */
class unit_results {
public:
    /* Borrows the unit's buffer at a port: returns a pointer to [address, address + size), nullptr if there is none. */
    using borrow = std::function<uint8_t *(uint32_t port, uint64_t address, uint64_t size)>;

    unit_results(const cnnvp_instance &instance, const cnnvp_resolved &resolved, results_total &total);

    /* True if the command is a calculation. */
    static bool judges(const cnnvp_command &command);
    /* Call it before a command. */
    void begin(const cnnvp_command &command, const borrow &borrow);
    /* Call it when the unit has executed the command (`done`) or refused it; after a refusal nothing is compared.
     * `layer`: its name. Returns the differences if this is the platform's first wrong command, otherwise "". */
    std::string end(bool done, const char *layer);
    /* The unit has accepted the command and works on it; `end` follows. */
    void postpone() { pending_ = checked_; }
    bool waits_for(uint64_t sequence) const { return pending_ && command_.sequence == sequence; }
    uint32_t tag() const { return command_.tag; }
    void reset();

private:
    /* A buffer of the unit, or a region of one, with its contents before a command. */
    struct buffer {
        uint32_t instance, target_port;
        const char *name;
        uint32_t port;
        uint64_t most_bytes; /* of a half of the buffer */
        uint32_t halves;
        uint64_t half_bytes; /* of the region, which software may change between commands */
        uint8_t *live[2];
        std::vector<uint8_t> copy[2], mine[2];
    };
    /* Differences of a command. */
    struct findings {
        uint64_t results = 0, wrong = 0, outside = 0;
        std::string result, where; /* the first of each */
    };

    const cnnvp_instance &instance_;
    const cnnvp_resolved &resolved_;
    results_total &total_;
    std::vector<buffer> buffers_;
    size_t roles_[CNNVP_REFERENCE_BUFFERS]; /* index in buffers_ for each role; buffers_.size(): none */
    cnnvp_reference reference_{};
    cnnvp_command command_{};
    bool checked_ = false;
    bool pending_ = false;

    const cnnvp_binding *at_port(const char *name) const;
    void add_buffer(const cnnvp_binding &binding);
    void lend_copies();
    void compare(bool late, findings &found);
    void compare_results(const cnnvp_reference_results &results, findings &found);
    static void compare_word(const buffer &buffer, uint64_t at, const char *name,
                             const cnnvp_reference_results &results, findings &found);
    static void compare_rest(const buffer &buffer, uint32_t half, findings &found);
    std::string text(const findings &found, const char *layer) const;
};

} // namespace cnnvp
