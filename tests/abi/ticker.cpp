// SPDX-License-Identifier: Apache-2.0
/*
 * A library in C++ whose unit has an sc_module: a clock, a method that counts its edges, a thread that moves words to
 * and from memory and reads registers.
 */
#include <cstring>
#include <string>

#include <systemc>

#include "cnnvp_model.h"

namespace {

enum port { MEM, OUT };
enum stat { TICKS, ROUNDS };
constexpr uint64_t scratch = 0x81800000, priority = 0x0c000004; /* of the PLIC */

struct engine;

struct ticker {
    cnnvp_host *host;
    const cnnvp_host_ops *ops;
    uint32_t number;
    engine *inner;
    cnnvp_request request;
    uint32_t words[16];
};

struct engine : sc_core::sc_module {
    ticker &of;
    sc_core::sc_clock clock{"clock", 10, sc_core::SC_NS};
    sc_core::sc_event done;

    engine(const sc_core::sc_module_name &name, ticker &owner) : sc_core::sc_module(name), of(owner)
    {
        sc_core::sc_spawn_options on_edge;
        on_edge.spawn_method();
        on_edge.set_sensitivity(&clock.posedge_event());
        on_edge.dont_initialize();
        sc_core::sc_spawn([this] { of.ops->count(of.host, TICKS, 0, 1); }, "tick", &on_edge);
        sc_core::sc_spawn([this] { work(); }, "work");
    }
    bool move(unsigned op)
    {
        std::memset(&of.request, 0, sizeof of.request);
        of.request.op = op;
        of.request.address = scratch + of.number * sizeof of.words;
        of.request.data = of.words;
        of.request.size = sizeof of.words;
        of.request.count = of.request.outstanding = 1;
        if (of.ops->request(of.host, MEM, &of.request) != CNNVP_OK)
            return false;
        sc_core::wait(done);
        return of.request.status == CNNVP_OK;
    }
    void work()
    {
        for (uint32_t round = 1; round <= 20; ++round) {
            uint32_t level = 1;
            cnnvp_access access{};
            sc_core::wait(clock.posedge_event());
            of.words[15] = round;
            if (!move(CNNVP_WRITE))
                return;
            of.words[15] = 0;
            access.op = CNNVP_READ;
            access.address = priority;
            access.data = &level;
            access.size = sizeof level;
            if (!move(CNNVP_READ) || of.words[15] != round || of.ops->access(of.host, OUT, &access) != CNNVP_OK ||
                level != 0)
                return;
            of.ops->count(of.host, ROUNDS, 0, 1);
        }
    }
};

int init(void *self, const cnnvp_init *init)
{
    auto *mine = static_cast<ticker *>(self);
    mine->host = init->host;
    mine->ops = init->ops;
    mine->number = init->instance;
    if (init->simulated)
        mine->inner = new engine((std::string(init->name) + "_engine").c_str(), *mine);
    return CNNVP_OK;
}

void fini(void *self)
{
    delete static_cast<ticker *>(self)->inner;
}

void complete(void *self, uint32_t, cnnvp_request *)
{
    static_cast<ticker *>(self)->inner->done.notify();
}

const cnnvp_port ports[] = {
    {"mem", CNNVP_PORT_MEM_INITIATOR, 0, 0, 0, "memory"}, {"out", CNNVP_PORT_INITIATOR, 0, 0, 0, "registers"}};
const cnnvp_stat stats[] = {{"ticks", "edges", nullptr, nullptr, "edges of the module's clock"},
                            {"rounds", "rounds", nullptr, nullptr, "words written and read again"}};

} // namespace

extern "C" const cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t)
{
    static const cnnvp_unit unit = [] {
        cnnvp_unit made{};
        made.struct_size = sizeof made;
        made.abi_major = CNNVP_ABI_MAJOR;
        made.abi_minor = CNNVP_ABI_MINOR;
        made.kind = "ticker";
        made.version = "1";
        made.summary = "an sc_module";
        made.instance_size = sizeof(ticker);
        made.ports = ports;
        made.port_count = 2;
        made.stats = stats;
        made.stat_count = 2;
        made.init = init;
        made.fini = fini;
        made.complete = complete;
        return made;
    }();
    return index == 0 ? &unit : nullptr;
}
