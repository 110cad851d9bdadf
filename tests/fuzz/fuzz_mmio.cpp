/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that loads and stores what the input says, on the whole nfu platform, which is reset between inputs: building
 * one takes several times as long as a run. A run after a reset must be what it is on a new platform. Operations:
 *   byte 0 & 7 == 0: a word of 8 bytes into the instruction queue
 *   otherwise      : (byte 0 & 7) what, (byte 0 >> 3 & 7) where, 3 bytes of offset, 4 bytes of value
 * what: 1 store word, 2 load word, 3 store half, 4 store byte, 5 load byte, 6 enable interrupts, 7 wait.
 */
#include "fuzz.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "platform.h"
extern "C" {
#include "config.h"
#include "elf_file.h"
}

namespace {

constexpr uint32_t operations_max = 600;
constexpr uint32_t elf_header = 84;
constexpr uint32_t table = 0x1000; /* in memory behind the code */
constexpr uint32_t queue = 0x10010010;
constexpr uint32_t memory_at = 0x80000000;
constexpr size_t memory_bytes = size_t(1) << 18;
constexpr cnnvp_time long_ps = 40'000'000;  /* 40 us */
constexpr cnnvp_time short_ps = 4'000'000;  /* nearly all that can happen does by then, in a third of the host's time */
constexpr cnnvp_time grid_ps = 833'000'000; /* whole clocks of the platform's 1000 MHz and of the memory's 833 ps */

/* One of so many inputs runs for long; one is run again on a new platform, and has its statistics written: there are no
 * others in them. */
#ifdef FUZZ_REPLAY
constexpr uint32_t long_of = 1;
constexpr uint32_t new_platform_of = 1;
#else
constexpr uint32_t long_of = 8;
constexpr uint32_t new_platform_of = 64;
#endif

/*
 * mtvec = trap; s0 = 0x80001000
 * loop: what, address, value = table[s0++]; what == 0: wfi for ever; do it; j loop
 * trap: an interrupt: mie = 0; anything else: mepc += 4; mret
 */
const uint32_t code[] = {
    0x800002b7u, 0x0a428293u, 0x30529073u, 0x80001437u, 0x00042303u, 0x00442383u, 0x00842e03u, 0x00c40413u, 0x06030e63u,
    0x00737313u, 0x00100e93u, 0x03d30e63u, 0x00200e93u, 0x03d30e63u, 0x00300e93u, 0x03d30e63u, 0x00400e93u, 0x03d30e63u,
    0x00500e93u, 0x03d30e63u, 0x00600e93u, 0x03d30e63u, 0x3ffe7e13u, 0xfffe0e13u, 0xfe0e5ee3u, 0xfadff06fu, 0x01c3a023u,
    0xfa5ff06fu, 0x0003ae03u, 0xf9dff06fu, 0x01c39023u, 0xf95ff06fu, 0x01c38023u, 0xf8dff06fu, 0x0003ce03u, 0xf85ff06fu,
    0x304e1073u, 0x30046073u, 0xf79ff06fu, 0x10500073u, 0xffdff06fu, 0x34202ff3u, 0x000fca63u, 0x34102ff3u, 0x004f8f93u,
    0x341f9073u, 0x30200073u, 0x30401073u, 0x30200073u,
};

const uint32_t regions[8] = {
    0x10010000u, 0x02000000u, 0x0c000000u, 0x10000000u, 0x80010000u, 0x80000000u, 0x00000000u, 0xff000000u};

uint8_t program[elf_header + table + (operations_max * 2u + 1u) * 12u];

void put(uint8_t *to, uint32_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; ++i)
        to[i] = static_cast<uint8_t>(value >> (8u * i));
}

uint32_t take(const uint8_t *from, uint32_t bytes)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < bytes; ++i)
        value |= uint32_t(from[i]) << (8u * i);
    return value;
}

uint8_t *put_operation(uint8_t *to, uint32_t what, uint32_t address, uint32_t value)
{
    put(to, what, 4);
    put(to + 4, address, 4);
    put(to + 8, value, 4);
    return to + 12;
}

/* One executable segment at the start of memory. */
void make_program(const uint8_t *data, size_t size)
{
    std::memset(program, 0, sizeof program);
    std::memcpy(program, "\177ELF\1\1\1", 7);
    put(program + 16, 2u | 243u << 16, 4);
    put(program + 20, 1, 4);
    put(program + 24, memory_at, 4);
    put(program + 28, 52, 4);
    put(program + 40, 52u | 32u << 16, 4);
    put(program + 44, 1, 2);
    put(program + 52, 1, 4);
    put(program + 56, elf_header, 4);
    put(program + 60, memory_at, 4);
    put(program + 64, memory_at, 4);
    put(program + 68, sizeof program - elf_header, 4);
    put(program + 72, sizeof program - elf_header, 4);
    for (uint32_t i = 0; i < sizeof code / sizeof code[0]; ++i)
        put(program + elf_header + 4u * i, code[i], 4);
    uint8_t *to = program + elf_header + table;
    for (uint32_t i = 0; i < operations_max && size; ++i) {
        const uint32_t what = data[0] & 7u;
        const uint32_t bytes = what ? 8u : 9u;
        if (size < bytes)
            break;
        if (what)
            to = put_operation(to, what, regions[data[0] >> 3 & 7u] + take(data + 1, 3), take(data + 4, 4));
        for (uint32_t half = 0; !what && half < 2; ++half)
            to = put_operation(to, 1, queue + 4u * half, take(data + 1 + 4u * half, 4));
        data += bytes;
        size -= bytes;
    }
}

/* ---- the platform ---- */

/* What a run leaves behind. */
struct outcome {
    cnnvp_run_result result{};
    std::unique_ptr<uint8_t[]> memory{new uint8_t[memory_bytes]};
};

class session {
public:
    session()
    {
        const cnnvp_resolved *resolved = cnnvp_config_resolved(config());
        cnnvp_error error{};
        fuzz_require(cnnvp_recorder_new(resolved, nullptr, 0, &recorder_, &error) == CNNVP_DONE, error.text);
        cnnvp::run_control::options options;
        options.recorder = recorder_;
        options.verbosity = -1;
        options.console = [](void *, const void *, size_t) {};
        fuzz_require(cnnvp::platform::design::build(*resolved, options, &platform_, &error) == CNNVP_DONE, error.text);
        void *memory = nullptr;
        fuzz_require(platform_->memory().map(memory_at, memory_bytes, &memory), "memory");
        memory_ = static_cast<uint8_t *>(memory);
    }

    ~session()
    {
        platform_.reset();
        cnnvp_recorder_free(recorder_);
    }

    session(const session &) = delete;
    session &operator=(const session &) = delete;

    /* Everything as it was when the platform was built, but for its time, which is at a multiple of all clocks. */
    void reset()
    {
        const auto inside = platform_->enter();
        platform_->reset();
        const cnnvp_time now = cnnvp::to_ps(sc_core::sc_time_stamp());
        begin_ = (now / grid_ps + 1) * grid_ps;
        cnnvp::advance(cnnvp::from_ps(begin_ - now));
        platform_->reset();
        std::memset(memory_, 0, memory_bytes);
    }

    void run(const uint8_t *elf_bytes, size_t size, cnnvp_time length, outcome &out)
    {
        cnnvp_error error{};
        cnnvp_elf *elf = nullptr;
        fuzz_require(cnnvp_elf_read(fuzz_file(elf_bytes, size), &elf, &error) == CNNVP_DONE, error.text);
        fuzz_require(platform_->memory().load(*elf, "fuzz", 0, nullptr, &error) == CNNVP_DONE, error.text);
        cnnvp_elf_free(elf);
        platform_->run(begin_ + length, &out.result);
        out.result.time_ps -= begin_;
        fuzz_require(out.result.end == CNNVP_END_EXIT || out.result.reason[0] != '\0', "the reason of an end");
        fuzz_require(out.result.end != CNNVP_END_FATAL, out.result.reason);
        std::memcpy(out.memory.get(), memory_, memory_bytes);
    }

    void statistics()
    {
        char *json = nullptr;
        const auto inside = platform_->enter();
        platform_->flush();
        fuzz_require(
            cnnvp_stats_json(&recorder_->stats, cnnvp::to_ps(sc_core::sc_time_stamp()), 0, &json) == CNNVP_DONE,
            "statistics");
        std::free(json);
    }

private:
    static cnnvp_config *config()
    {
        static cnnvp_config *resolved;
        cnnvp_error error{};
        if (!resolved)
            fuzz_require(cnnvp_config_new("nfu", &resolved, &error) == CNNVP_DONE &&
                             cnnvp_config_set(resolved, "dram.size=256KiB", &error) == CNNVP_DONE &&
                             cnnvp_config_resolve(resolved, &error) == CNNVP_DONE,
                         error.text);
        return resolved;
    }

    cnnvp_recorder *recorder_ = nullptr;
    std::unique_ptr<cnnvp::platform::design> platform_;
    uint8_t *memory_ = nullptr;
    cnnvp_time begin_ = 0;
};

void require_same(const outcome &a, const outcome &b)
{
    fuzz_require(a.result.end == b.result.end && a.result.exit_code == b.result.exit_code,
                 "the same end after a reset");
    fuzz_require(a.result.time_ps == b.result.time_ps, "the same time after a reset");
    fuzz_require(std::memcmp(a.memory.get(), b.memory.get(), memory_bytes) == 0, "the same memory after a reset");
}

/* Bytes of all inputs spread evenly. */
uint32_t sum_of(const uint8_t *data, size_t size)
{
    uint32_t sum = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < size; ++i)
        sum = (sum ^ data[i]) * 16777619u;
    return sum ^ sum >> 16;
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static std::unique_ptr<session> now;
    static outcome first;
    static outcome second;
    const uint32_t sum = sum_of(data, size);
    const cnnvp_time length = sum / new_platform_of % long_of == 0 ? long_ps : short_ps;
    make_program(data, size);
    if (now)
        now->reset();
    else
        now = std::make_unique<session>();
    now->run(program, sizeof program, length, first);
    if (sum % new_platform_of == 0) {
        now.reset();
        now = std::make_unique<session>();
        now->run(program, sizeof program, length, second);
        now->statistics();
        require_same(first, second);
    }
    return 0;
}
