/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether units calculate what they are told to (check_results): what is in a unit's buffers after a command, against
 * what the reference (models/reference) makes of what was in them before. Every byte of them is compared, so what a
 * unit writes outside of its results is found too.
 */
#ifndef CNNVP_PLATFORM_RESULTS_H
#define CNNVP_PLATFORM_RESULTS_H

#include <functional>
#include <string>
#include <vector>

#include "cnnvp.h"
#include "config.h"
#include "reference/reference.h"

namespace cnnvp {

/* Of a whole platform. */
struct results_total {
    uint64_t compared = 0;
    uint64_t wrong = 0;
    std::string first;                                    /* the first wrong command */
    uint64_t without[UINT8_MAX + 1] = {};                 /* by opcode: there is no reference for them */
    void fill(struct cnnvp_results_check *results) const; /* as C has it */
};

/* Of one unit. */
class unit_results {
public:
    /* The unit's buffer at one of its ports: a pointer to [address, address + size), nullptr where there is none. */
    using borrow = std::function<uint8_t *(uint32_t port, uint64_t address, uint64_t size)>;

    unit_results(const cnnvp_instance &instance, const cnnvp_resolved &resolved, results_total &total);

    /* 1: it is a calculation. */
    static bool judges(const cnnvp_command &command);
    /* Before a command. */
    void begin(const cnnvp_command &command, const borrow &borrow);
    /* The unit has carried it out, or refused it: then nothing is compared. `layer`: its name. Returns what is wrong
     * with it if that is the first wrong one of the platform, "" otherwise. */
    std::string end(bool done, const char *layer);
    /* The unit has accepted it and works on it; `end` follows. */
    void postpone() { pending_ = checked_; }
    bool waits_for(uint64_t sequence) const { return pending_ && command_.sequence == sequence; }
    uint32_t tag() const { return command_.tag; }
    void reset();

private:
    /* A buffer of the unit's and, before a command, what is in it. */
    struct buffer {
        uint32_t instance;
        const char *name;
        uint32_t port;
        uint64_t half_bytes;
        uint32_t halves;
        uint8_t *live[2];
        std::vector<uint8_t> copy[2], mine[2];
    };
    /* Differences of one command. */
    struct findings {
        uint64_t results = 0, wrong = 0, outside = 0;
        std::string result, where; /* the first of each */
    };

    const cnnvp_instance &instance_;
    const cnnvp_resolved &resolved_;
    results_total &total_;
    std::vector<buffer> buffers_;
    size_t roles_[CNNVP_REFERENCE_BUFFERS]; /* which of them; buffers_.size(): none */
    cnnvp_reference reference_{};
    cnnvp_command command_{};
    bool checked_ = false;
    bool pending_ = false;

    const cnnvp_instance *at_port(const char *name) const;
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

#endif
