// SPDX-License-Identifier: Apache-2.0
// Drives one controller of Ramulator 2.1 with the bursts of dram_places, as fast as it takes them, and prints clocks
// until the last read data and the last write's acceptance, and reads' and writes' numbers.
//
//     drive CONFIG.yaml PLACES READS-ON-THEIR-WAY LEVELS HALVES TICKS
//
// The part has so many LEVELS; a burst is HALVES requests of neighbouring columns, and a clock TICKS of the
// simulator's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>

#include "ramulator/base/config.h"
#include "ramulator/base/factory.h"
#include "ramulator/frontend/i_frontend.h"
#include "ramulator/memory_system/i_memory_system.h"

using namespace Ramulator;

namespace {

struct Burst {
    unsigned write, channel, pseudo, group, bank, row, column;
    unsigned sent = 0; // halves
};

// The levels below the channel: a pseudo channel or rank, group where the part has them, bank, row, column.
AddrVec_t address_of(const Burst &burst, unsigned levels, unsigned halves)
{
    const int column = static_cast<int>(burst.column * halves + burst.sent);
    const int pseudo = static_cast<int>(burst.pseudo), group = static_cast<int>(burst.group);
    const int bank = static_cast<int>(burst.bank), row = static_cast<int>(burst.row);
    if (levels == 5)
        return {0, pseudo, bank, row, column};
    if (levels == 6)
        return {0, pseudo, group, bank, row, column};
    return {0, pseudo, 0, group, bank, row, column}; // HBM3 has stack IDs
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 7)
        return 2;
    const ConfigNode config = Config::parse_config_file(argv[1]);
    std::ifstream places(argv[2]);
    const unsigned most = static_cast<unsigned>(std::atoi(argv[3])), levels = static_cast<unsigned>(std::atoi(argv[4]));
    const unsigned halves = static_cast<unsigned>(std::atoi(argv[5])),
                   ticks = static_cast<unsigned>(std::atoi(argv[6]));
    std::unique_ptr<IFrontEnd> front(Factory::create_frontend(config));
    std::unique_ptr<IMemorySystem> memory(Factory::create_memory_system(config));
    front->connect_memory_system(memory.get());
    memory->connect_frontend(front.get());

    std::deque<unsigned> left; // halves of reads on their way
    std::uint64_t clock = 1, last = 0, counts[2] = {0, 0};
    unsigned on_their_way = 0;
    Burst burst;
    bool any = static_cast<bool>(places >> burst.write >> burst.channel >> burst.pseudo >> burst.group >> burst.bank >>
                                 burst.row >> burst.column);
    unsigned *open = nullptr;
    while (any || on_their_way) {
        for (; any;) {
            if (!burst.write && !burst.sent && on_their_way >= most)
                break;
            if (!burst.write && !burst.sent) {
                left.push_back(halves);
                open = &left.back();
                ++on_their_way;
            }
            Request request(address_of(burst, levels, halves),
                            burst.write ? Request::Type::Write : Request::Type::Read);
            request.addr =
                ((((static_cast<Addr_t>(burst.row) * 8 + burst.pseudo) * 16 + burst.group) * 16 + burst.bank) * 4096 +
                 burst.column) *
                    halves +
                burst.sent;
            request.intra_channel_addr = request.addr;
            request.source_id = 0;
            request.size_bytes = memory->get_tx_bytes();
            if (!burst.write) {
                unsigned *mine = open;
                request.callback = [mine, &on_their_way, &last, &clock](Request &) {
                    if (--*mine == 0) {
                        --on_their_way;
                        last = clock;
                    }
                };
            }
            if (!memory->send(request)) {
                if (!burst.write && !burst.sent) {
                    left.pop_back();
                    --on_their_way;
                }
                break;
            }
            if (++burst.sent == halves) {
                ++counts[burst.write];
                last = std::max(last, clock);
                burst.sent = 0;
                any = static_cast<bool>(places >> burst.write >> burst.channel >> burst.pseudo >> burst.group >>
                                        burst.bank >> burst.row >> burst.column);
            }
        }
        for (unsigned i = 0; i < ticks; ++i)
            memory->tick();
        ++clock;
    }
    std::printf("%llu %llu %llu\n", static_cast<unsigned long long>(last), static_cast<unsigned long long>(counts[0]),
                static_cast<unsigned long long>(counts[1]));
}
