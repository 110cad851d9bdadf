/* SPDX-License-Identifier: Apache-2.0 */
/* Compares commands with the reference, see results.h. */
#include "results.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include "cnnvp_buffer.h"
#include "cnnvp_words.h"
extern "C" {
#include "isa/isa.h"
}

namespace cnnvp {

namespace {

constexpr uint32_t exact_sums = 64; /* bits, for a unit without a width of its sums */

/* Bytes of the output half are compared by kind: other contents, results, working memory for sums. */
enum byte_kind : uint8_t { byte_other, byte_result, byte_working };

std::string format(const char *text, ...) CNNVP_PRINTF(1, 2);

std::string format(const char *text, ...)
{
    char line[400];
    va_list args;
    va_start(args, text);
    std::vsnprintf(line, sizeof line, text, args);
    va_end(args);
    return line;
}

template <typename Word>
Word word_at(const uint8_t *at)
{
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

/* A result as readable text. */
std::string word_text(const uint8_t *at, const cnnvp_reference_results &results)
{
    if (results.floating && results.bytes == 8)
        return format("%.17g", word_at<double>(at));
    if (results.floating)
        return format("%.9g (0x%08" PRIx32 ")", static_cast<double>(word_at<float>(at)), word_at<uint32_t>(at));
    return std::to_string(results.bytes == 1   ? word_at<int8_t>(at)
                          : results.bytes == 2 ? word_at<int16_t>(at)
                                               : cnnvp_sum_at(at, results.bytes));
}

/* Compares bit by bit, except that any NaN equals any other. */
bool same_word(const uint8_t *expected, const uint8_t *got, const cnnvp_reference_results &results)
{
    const auto nan = [&](const uint8_t *at) {
        return std::isnan(results.bytes == 8 ? word_at<double>(at) : static_cast<double>(word_at<float>(at)));
    };
    return std::memcmp(expected, got, results.bytes) == 0 || (results.floating && nan(expected) && nan(got));
}

} // namespace

void results_total::fill(struct cnnvp_results_check *results) const
{
    size_t length = 0;
    results->compared = compared;
    results->wrong = wrong;
    std::snprintf(results->first, sizeof results->first, "%s", first.c_str());
    results->without = 0;
    results->kinds[0] = '\0';
    for (uint32_t opcode = 0; opcode <= UINT8_MAX; ++opcode) {
        if (without[opcode] == 0)
            continue;
        results->without += without[opcode];
        if (length < sizeof results->kinds)
            length += static_cast<size_t>(
                std::snprintf(results->kinds + length, sizeof results->kinds - length, "%s%" PRIu64 " %s",
                              length ? ", " : "", without[opcode], cnnvp_isa_opcode(opcode)->mnemonic));
    }
}

unit_results::unit_results(const cnnvp_instance &instance, const cnnvp_resolved &resolved, results_total &total)
    : instance_(instance), resolved_(resolved), total_(total)
{
    static const char *const roles[CNNVP_REFERENCE_BUFFERS][2] = {
        {"input"},
        {"weight"},
        {"output"},
        {"max_min_buffer", "scales"},
        {"sum_buffer"},
        {"batch_norm_buffer"},
        {"relu_buffer"},
        {"id_buffer"},
        {"output_data_buffer"}};

    for (size_t i = 0; i < instance.binding_count; ++i)
        add_buffer(instance.bindings[i]);
    for (size_t role = 0; role < CNNVP_REFERENCE_BUFFERS; ++role) {
        roles_[role] = buffers_.size();
        for (const char *name : roles[role])
            if (const cnnvp_binding *to = name ? at_port(name) : nullptr)
                roles_[role] = static_cast<size_t>(
                    std::find_if(
                        buffers_.begin(), buffers_.end(),
                        [&](const buffer &b) { return b.instance == to->target && b.target_port == to->target_port; }) -
                    buffers_.begin());
    }
    reference_.acc_bits = static_cast<uint32_t>(cnnvp_instance_value_or(&instance, "acc_bits", exact_sums));
    reference_.mantissa_bits = static_cast<uint32_t>(cnnvp_instance_value_or(&instance, "mantissa_bits", 0));
    reference_.zones = cnnvp_instance_value_or(&instance, "layout", 0) != 0;
    if (const cnnvp_binding *encode = at_port("encode"))
        reference_.staged = cnnvp_instance_value_or(&resolved.instances[encode->target], "positions", 0) != 0;
    reference_.lanes = static_cast<uint32_t>(std::min<uint64_t>(
        cnnvp_instance_value_or(&instance, "lanes", cnnvp_instance_value_or(&instance, "fc_para", 0)),
        CNNVP_REFERENCE_LANES));
    lend_copies();
}

/* What the unit's port of this name leads to; nullptr: nothing. */
const cnnvp_binding *unit_results::at_port(const char *name) const
{
    for (size_t i = 0; i < instance_.binding_count; ++i)
        if (std::strcmp(instance_.unit->ports[instance_.bindings[i].port].name, name) == 0)
            return &instance_.bindings[i];
    return nullptr;
}

void unit_results::add_buffer(const cnnvp_binding &binding)
{
    const cnnvp_instance &target = resolved_.instances[binding.target];
    const cnnvp_port &port = instance_.unit->ports[binding.port];
    const uint32_t crosses = port.flags & CNNVP_PORT_CROSSES;
    const uint64_t size = target.unit ? cnnvp_instance_value_or(&target, "size", 0) : 0;
    const uint32_t halves = target.unit && cnnvp_instance_value_or(&target, "pingpong", 0) != 0 ? 2 : 1;

    if (size == 0 || port.kind != CNNVP_PORT_INITIATOR || (crosses != CNNVP_PORT_WORDS && crosses != 0) ||
        std::any_of(buffers_.begin(), buffers_.end(), [&](const buffer &other) {
            return other.instance == target.number && other.target_port == binding.target_port;
        }))
        return;
    const uint64_t half = size / halves;
    buffers_.push_back({target.number, binding.target_port, target.name, binding.port, half, halves, half, {}, {}, {}});
}

void unit_results::reset()
{
    pending_ = false;
    std::memset(reference_.registers, 0, sizeof reference_.registers);
}

bool unit_results::judges(const cnnvp_command &command)
{
    const isa_opcode *opcode = cnnvp_isa_opcode(command.opcode);

    return opcode && opcode->class_ == ISA_CLASS_calc;
}

namespace {

/* Bytes of a half of the buffer, or of its region, at a port: as much as can be borrowed, in whole words. */
uint64_t bytes_at(uint32_t port, uint64_t most, const unit_results::borrow &borrow)
{
    uint64_t there = 0;
    if (borrow(port, cnnvp_buffer_address(0, 0), most))
        return most;
    for (uint64_t beyond = most / 2 * 2; beyond - there > 2;) {
        const uint64_t middle = there + (beyond - there) / 4 * 2;
        (borrow(port, cnnvp_buffer_address(0, 0), middle) ? there : beyond) = middle;
    }
    return there;
}

} // namespace

void unit_results::begin(const cnnvp_command &command, const borrow &borrow)
{
    if (std::exchange(pending_, false)) /* the unit accepts a command before the previous one ended, so their results
                                         * cannot be told apart */
        ++total_.without[command_.opcode];
    command_ = command;
    checked_ = cnnvp_reference_covers(&reference_, &command) != 0 && roles_[CNNVP_REFERENCE_OUTPUT] < buffers_.size();
    for (buffer &buffer : buffers_) {
        buffer.half_bytes = checked_ ? bytes_at(buffer.port, buffer.most_bytes, borrow) : 0;
        for (uint32_t half = 0; checked_ && half < buffer.halves; ++half) {
            buffer.live[half] = borrow(buffer.port, cnnvp_buffer_address(half, 0), buffer.half_bytes);
            checked_ = buffer.live[half] != nullptr;
            if (checked_)
                buffer.copy[half].assign(buffer.live[half], buffer.live[half] + buffer.half_bytes);
        }
    }
    if (!checked_)
        ++total_.without[command.opcode];
}

std::string unit_results::end(bool done, const char *layer)
{
    const bool late = std::exchange(pending_, false);
    findings found;

    if (!std::exchange(checked_, false) || !done)
        return "";
    lend_copies();
    ++total_.compared;
    const char *impossible = cnnvp_reference_run(&reference_, &command_);
    if (impossible)
        found = {0, 1, 0, std::string("the unit takes it, and ") + impossible, ""};
    else
        compare(late, found);
    if (found.wrong == 0 && found.outside == 0)
        return "";
    if (total_.wrong++ != 0)
        return "";
    total_.first = std::string(instance_.name) + ": " + text(found, layer);
    return text(found, layer);
}

/* Gives the copies to the reference to work on. */
void unit_results::lend_copies()
{
    for (size_t role = 0; role < CNNVP_REFERENCE_BUFFERS; ++role) {
        if (roles_[role] >= buffers_.size())
            continue;
        buffer &from = buffers_[roles_[role]];
        reference_.buffers[role] = {{from.copy[0].data(), from.copy[1].data()}, from.half_bytes};
        reference_.made[role] = {{from.live[0], from.live[1]}, from.half_bytes};
    }
}

/* `late`: other units may have written since the command began, but not to the command's results. */
void unit_results::compare(bool late, findings &found)
{
    cnnvp_reference_results results;

    if (std::all_of(buffers_.begin(), buffers_.end(), [](const buffer &buffer) {
            return std::memcmp(buffer.live[0], buffer.copy[0].data(), buffer.half_bytes) == 0 &&
                   (buffer.halves == 1 || std::memcmp(buffer.live[1], buffer.copy[1].data(), buffer.half_bytes) == 0);
        }))
        return;
    for (uint32_t index = 0; cnnvp_reference_locate(&reference_, &command_, index, &results); ++index)
        compare_results(results, found);
    for (buffer &buffer : buffers_)
        for (uint32_t half = 0; half < buffer.halves; ++half)
            if (!late || !buffer.mine[half].empty()) {
                compare_rest(buffer, half, found);
                buffer.mine[half].clear();
            }
}

/* Compares the results of one place word by word; `mine` marks the bytes of the half that are results, or that may hold
 * sums meanwhile. */
void unit_results::compare_results(const cnnvp_reference_results &results, findings &found)
{
    buffer &buffer = buffers_[roles_[results.buffer]];
    std::vector<uint8_t> &mine = buffer.mine[results.half];

    mine.resize(buffer.half_bytes, byte_other);
    for (uint64_t at = results.working; at < std::min(results.working_end, buffer.half_bytes); ++at)
        mine[at] = byte_working;
    for (uint64_t g = 0; g < results.groups; ++g)
        for (uint64_t o = 0; o < results.outer; ++o)
            for (uint64_t i = 0; i < results.inner; ++i) {
                const int64_t index = static_cast<int64_t>(g) * results.group_stride +
                                      static_cast<int64_t>(o) * results.stride + static_cast<int64_t>(i);
                const auto at = static_cast<uint64_t>(results.base + static_cast<int64_t>(results.bytes) * index);
                char name[128];
                cnnvp_reference_name(&results, g, o, i, name, sizeof name);
                std::fill_n(mine.begin() + static_cast<std::ptrdiff_t>(at), results.bytes, byte_result);
                compare_word(buffer, at, name, results, found);
            }
}

void unit_results::compare_word(const buffer &buffer, uint64_t at, const char *name,
                                const cnnvp_reference_results &results, findings &found)
{
    const uint8_t *expected = buffer.copy[results.half].data() + at, *got = buffer.live[results.half] + at;

    ++found.results;
    if (same_word(expected, got, results) || found.wrong++ != 0)
        return;
    found.result =
        format("%s (byte 0x%" PRIx64 " of half %u of %s) is %s%s, expected %s", name, at, results.half, buffer.name,
               results.sums ? "the sum " : "", word_text(got, results).c_str(), word_text(expected, results).c_str());
}

void unit_results::compare_rest(const buffer &buffer, uint32_t half, findings &found)
{
    const std::vector<uint8_t> &mine = buffer.mine[half];
    for (uint64_t at = 0; at < buffer.half_bytes; ++at) {
        const uint8_t expected = buffer.copy[half][at], got = buffer.live[half][at];
        if (expected == got || (!mine.empty() && mine[at] != byte_other))
            continue;
        if (found.outside++ == 0)
            found.where = format("the first of them 0x%" PRIx64 " of half %u of %s: 0x%02x, was 0x%02x", at, half,
                                 buffer.name, got, expected);
    }
}

std::string unit_results::text(const findings &found, const char *layer) const
{
    char instruction[128];
    cnnvp_reference_instruction(&command_, instruction, sizeof instruction);
    std::string line = format("command %" PRIu64 ", %s", command_.sequence, instruction);
    if (command_.tag != 0)
        line += format(", of layer \"%.100s\"", layer);
    if (found.wrong != 0)
        line += ": " + found.result;
    if (found.results != 0 && found.wrong != 0)
        line += format("; wrong are %" PRIu64 " of %" PRIu64 " results", found.wrong, found.results);
    if (found.outside != 0)
        line += std::string(found.wrong != 0 ? "; and" : ":") +
                format(" it wrote %" PRIu64 " bytes outside of its results, ", found.outside) + found.where;
    return line;
}

} // namespace cnnvp
