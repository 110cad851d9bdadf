/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link between two units of a platform that leads through a model of the program's: memory's bursts, and commands,
 * words, tiles and registers, each whole; direct memory that such a model, or a memory, withdraws.
 */
#include <utility>

#include <tlm_utils/simple_target_socket.h>

#include "memories.h"
#include "outside_case.h"

using namespace outside;

namespace {

/* ---- a link ---- */

/* Between two units of the platform: a network on chip of the program's, which takes 10 ns each way. */
struct network_on_chip : sc_core::sc_module {
    sc_time takes = ns(10);
    bool waits = true;
    std::function<bool(payload_type &, sc_time &)> instead; /* true: it has been dealt with */
    tlm_utils::simple_target_socket<network_on_chip> in{"in"};
    tlm_utils::simple_initiator_socket<network_on_chip> out{"out"};
    bool copies;

    network_on_chip(const sc_core::sc_module_name &name, bool makes_payloads)
        : sc_core::sc_module(name), copies(makes_payloads)
    {
        in.register_b_transport(this, &network_on_chip::b_transport);
        in.register_transport_dbg(this, &network_on_chip::transport_dbg);
        in.register_get_direct_mem_ptr(this, &network_on_chip::get_direct_mem_ptr);
    }
    void b_transport(payload_type &payload, sc_time &delay)
    {
        if (waits)
            sc_core::wait(std::exchange(delay, sc_core::SC_ZERO_TIME));
        if (waits)
            sc_core::wait(takes);
        else
            delay += takes;
        if (instead && instead(payload, delay))
            return;
        if (copies) {
            payload_type own;
            std::vector<unsigned char> bytes(payload.get_data_length());
            own.set_data_ptr(bytes.data());
            own.deep_copy_from(payload);
            own.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            out->b_transport(own, delay);
            payload.update_original_from(own, false);
        } else {
            out->b_transport(payload, delay);
        }
        delay += takes;
    }
    unsigned transport_dbg(payload_type &payload) { return out->transport_dbg(payload); }
    bool get_direct_mem_ptr(payload_type &payload, tlm::tlm_dmi &dmi) { return out->get_direct_mem_ptr(payload, dmi); }
};

/* The model in the platform's link `noc`, with checkers at both sides. */
struct model_in_link {
    network_on_chip noc;
    tlm_checker before{"before"}, behind{"behind"};

    model_in_link(cnnvp::platform &platform, bool copies) : noc("noc_model", copies)
    {
        platform.initiator_socket("noc").bind(before.from);
        before.to.bind(noc.in);
        noc.out.bind(behind.from);
        behind.to.bind(platform.target_socket("noc"));
    }
};

const json_t *member(const work &of, const std::vector<const char *> &path)
{
    const json_t *at = of.stats;
    for (const char *name : path)
        at = json_object_get(at, name);
    assert_non_null(at);
    return at;
}

/* What memory moved in each window is all that it moved, once. */
void assert_windows_add_up(const work &of)
{
    for (const char *name : {"read_bytes", "write_bytes"}) {
        json_int_t sum = 0;
        const json_t *const windows = member(of, {"memory", "over_time", name});
        for (size_t i = 0; i < json_array_size(windows); ++i)
            sum += json_integer_value(json_array_get(windows, i));
        assert_int_equal(sum, number(of, {"memory", name}));
    }
}

void test_link(void **)
{
    json_int_t times[2] = {0, 0};
    for (const char *more : {"", ", protocol: at", ", in_flight: 1"})
        for (const bool copies : {false, true}) {
            const simulation mine;
            work network(std::string("  noc: {model: external, role: link, connect: {inward: dram}") + more +
                         "}\n  dma: {connect: {mem: noc}}\n");
            cnnvp::platform platform("platform", network.config, &network.options);
            model_in_link link(platform, copies);
            link.noc.takes = ns(50); /* 10 can be less than what another order of bursts saves */
            network.load(platform);
            sc_core::sc_start(ns(4000000));
            network.take(platform);
            assert_same_work(network, alone());
            assert_clean(link.before);
            assert_clean(link.behind);
            /* a monitor has seen every byte; nothing is counted twice, and what is DRAM's is DRAM's */
            const json_int_t all =
                number(network, {"memory", "read_bytes"}) + number(network, {"memory", "write_bytes"});
            assert_int_equal(link.before.bytes, link.behind.bytes);
            assert_true(all - json_int_t(link.before.bytes) >= 0 &&
                        all - json_int_t(link.before.bytes) < 4096); /* of `fetch` */
            for (const char *name : {"read_bytes", "write_bytes"})
                assert_int_equal(number(network, {"memory", name}), number(alone(), {"memory", name}));
            assert_true(number(network, {"total", "time_ps"}) > number(alone(), {"total", "time_ps"}));
            assert_windows_add_up(network);
            if (*more == '\0')
                times[copies] = number(network, {"total", "time_ps"});
            else if (std::strstr(more, "in_flight"))
                assert_true(number(network, {"total", "time_ps"}) > times[copies]);
        }
    assert_int_equal(times[0], times[1]);
}

/* What is no memory's crosses whole, and what the model annotates is time. A link that takes none changes no cycle. */
struct whole_link {
    const char *base, *from, *port, *to;
};

const whole_link whole_links[] = {
    {"nfu", "instruction", "array", "pe_array"},
    {"nfu", "instruction", "dma", "dma"},
    {"nfu", "pe_array", "input", "input_buffer"},
    {"nfu", "pe_array", "output", "output_buffer"},
    {"nfu", "dma", "input", "input_buffer"},
    {"trainer", "relu", "next", "quantise"},
    {"trainer", "multi_function", "batch_norm", "batch_norm"}};

std::string units_of(const whole_link &link)
{
    return std::string("  noc: {model: external, role: link, connect: {inward: ") + link.to + "}}\n  " + link.from +
           ": {connect: {" + link.port + ": noc}}\n";
}

/* The program's model, with checkers at both sides; runs the network. */
struct whole_run {
    const simulation mine;
    work network;
    cnnvp::platform platform{"platform", network.config, &network.options};
    model_in_link link;

    whole_run(const whole_link &where, bool copies, double takes)
        : network(units_of(where), false, where.base), link(platform, copies)
    {
        link.noc.takes = ns(takes);
        link.noc.waits = false;
        network.load(platform);
    }
};

void test_link_whole(void **)
{
    for (const whole_link &link : whole_links) {
        const work &other = alone(link.base);
        for (const double takes : {0.0, 10.0})
            for (const bool copies : {false, true}) {
                whole_run run(link, copies, takes);
                sc_core::sc_start(ns(40000000));
                run.network.take(run.platform);
                assert_same_work(run.network, other);
                assert_clean(run.link.before);
                assert_clean(run.link.behind);
                assert_int_equal(run.link.before.blocking, run.link.behind.blocking);
                assert_int_equal(run.link.before.bytes, run.link.behind.bytes);
                assert_true(run.link.before.blocking > 0);
                const json_int_t longer =
                    number(run.network, {"total", "time_ps"}) - number(other, {"total", "time_ps"});
                const json_int_t cycles =
                    number(run.network, {"total", "accel_cycles"}) - number(other, {"total", "accel_cycles"});
                /* the array is busy with its own work and with what is on its way */
                assert_int_equal(longer, cycles * (std::strcmp(link.base, "nfu") == 0 ? 1000 : 5000));
                assert_true(takes > 0 ? longer > 0 : longer == 0);
                assert_windows_add_up(run.network);
                if (longer == 0)
                    assert_true(
                        json_equal(member(run.network, {"energy", "total_pj"}), member(other, {"energy", "total_pj"})));
            }
    }
}

/* All of the core's accesses: registers with their effects and time, memory by direct memory or without time. */
void test_link_of_core(void **)
{
    for (const char *dmi : {"on", "off"}) {
        const simulation mine;
        work network(std::string("  noc: {model: external, role: link, connect: {inward: bus}, dmi: ") + dmi +
                     "}\n  cpu: {connect: {bus: noc}}\n");
        cnnvp::platform platform("platform", network.config, &network.options);
        model_in_link link(platform, false);
        network.load(platform);
        sc_core::sc_start(ns(4000000));
        network.take(platform);
        assert_same_work(network, alone());
        assert_clean(link.before);
        assert_clean(link.behind);
        assert_true(link.before.blocking > 20 && link.before.blocking == link.behind.blocking);
        assert_windows_add_up(network);
        assert_int_equal(link.before.granted > 0, std::strcmp(dmi, "on") == 0);
        assert_true(number(network, {"total", "time_ps"}) > number(alone(), {"total", "time_ps"}));
    }
}

/* Lines that the core's cache writes back take their time there and change nothing. */
void test_link_of_lines(void **)
{
    static const char core[] = "  cpu: {memory: cache, dcache_size: 256, dcache_ways: 1";
    std::unique_ptr<work> near;
    {
        const simulation mine;
        near = std::make_unique<work>(std::string(core) + "}\n");
        cnnvp::platform platform("platform", near->config, &near->options);
        near->load(platform);
        sc_core::sc_start();
        near->take(platform);
    }
    const simulation mine;
    work network("  noc: {model: external, role: link, connect: {inward: dram}}\n" + std::string(core) +
                 ", connect: {mem: noc}}\n");
    cnnvp::platform platform("platform", network.config, &network.options);
    model_in_link link(platform, false);
    network.load(platform);
    sc_core::sc_start(ns(4000000));
    network.take(platform);
    assert_same_work(network, *near);
    assert_clean(link.before);
    assert_clean(link.behind);
    assert_true(number(network, {"units", "cpu", "write_backs"}) > 100);
    for (const char *name : {"reads", "writes", "write_bytes"})
        assert_int_equal(number(network, {"units", "dram", name}), number(*near, {"units", "dram", name}));
}

/* A model that waits, answers by itself, hands on pieces, or what is over; one that refuses, or never comes back. */
void test_link_whole_wrong(void **)
{
    enum wrong { WAITS, ANSWERS, PIECES, LATE, REFUSES, SILENT };
    static const char *const says[] = {
        "the model at the socket has waited",
        "has to pass on to target_socket(\"noc\")",
        "come back in pieces",
        "come back when that was over",
        "refused",
        "noc waits for the answer of the model at its socket"};
    for (const wrong what : {WAITS, ANSWERS, PIECES, LATE, REFUSES, SILENT}) {
        whole_run run(whole_links[0], false, 0);
        payload_type kept;
        std::vector<unsigned char> bytes(1024);
        sc_core::sc_event goes_on;
        run.link.noc.waits = what == WAITS;
        run.link.noc.instead = [&](payload_type &payload, sc_time &delay) {
            payload.set_response_status(what == REFUSES ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
            kept.set_data_ptr(bytes.data());
            kept.set_byte_enable_ptr(nullptr);
            kept.deep_copy_from(payload);
            kept.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
            if (what == SILENT)
                sc_core::wait(goes_on);
            if (what == PIECES) {
                kept.set_data_length(payload.get_data_length() / 2);
                kept.set_streaming_width(kept.get_data_length());
                run.link.noc.out->b_transport(kept, delay);
                payload.set_response_status(kept.get_response_status());
            }
            if (what == LATE)
                sc_core::sc_spawn([&] {
                    sc_time none;
                    sc_core::wait(ns(1));
                    run.link.noc.out->b_transport(kept, none);
                    EXPECT(kept.get_response_status() == tlm::TLM_GENERIC_ERROR_RESPONSE);
                });
            return what != WAITS;
        };
        sc_core::sc_start(ns(100000));
        assert_string_equal(faults.c_str(), "");
        const cnnvp_run_result result = run.platform.result();
        const bool ends = what != WAITS && what != SILENT;
        assert_int_equal(result.end, ends ? CNNVP_END_EXIT : what == WAITS ? CNNVP_END_FATAL : CNNVP_END_MAX_TIME);
        assert_true(!ends || result.exit_code != 0);
        if (what != REFUSES)
            assert_says(ends ? lines_of_log : result.reason, says[what]);
        goes_on.notify(); /* what a thread holds would be lost with it */
        if (what == SILENT)
            sc_core::sc_start(ns(1));
    }
}

/* On the bus in front of a device's registers and memory: the core's accesses go through it. */
void test_link_errors(void **)
{
    const simulation mine;
    work network("  noc: {model: external, role: link, connect: {inward: dram}}\n  dma: {connect: {mem: noc}}\n");
    cnnvp::platform platform("platform", network.config, &network.options);
    memories::loose broken("broken", ns(100), true, true, true);
    master none("none", false, [](master &) {});
    platform.initiator_socket("noc").bind(broken.socket);
    broken.bad_from = 0;
    broken.good_for = 20;
    broken.burst = 64;
    none.socket.bind(platform.target_socket("noc"));
    network.load(platform);
    sc_core::sc_start(ns(4000000));
    assert_int_equal(platform.result().end, CNNVP_END_EXIT);
    assert_true(platform.result().exit_code != 0);
    assert_says(lines_of_log, "the memory at the socket answered");
}

/* A link that never answers is named as what is waited for. */
void test_link_silent(void **)
{
    const simulation mine;
    work network("  noc: {model: external, role: link, connect: {inward: dram}}\n  dma: {connect: {mem: noc}}\n");
    cnnvp::platform platform("platform", network.config, &network.options);
    memories::loose silent("silent", sc_time(10, sc_core::SC_SEC), true, true, true);
    master none("none", false, [](master &) {});
    platform.initiator_socket("noc").bind(silent.socket);
    none.socket.bind(platform.target_socket("noc"));
    network.load(platform);
    sc_core::sc_start(ns(4000000));
    assert_int_equal(platform.result().end, CNNVP_END_MAX_TIME);
    assert_says(platform.result().reason, "of noc");
}

/* ---- direct memory that is withdrawn ---- */

/* A memory that moves its bytes while others run: it gives direct memory, withdraws it, leaves nothing of use where the
 * bytes were, gives none for a while, and gives it again where they are now. */
struct mover : sc_core::sc_module {
    std::function<bool()> goes_on = [] { return true; };
    tlm_utils::simple_target_socket<mover> socket{"socket"};
    memories::store other, here;
    bool gives = true;
    bool debugs = true;
    uint64_t page = memories::store::size; /* what it gives at once */
    unsigned moves = 0, granted_after = 0;

    explicit mover(const sc_core::sc_module_name &name) : sc_core::sc_module(name)
    {
        socket.register_b_transport(this, &mover::b_transport);
        socket.register_transport_dbg(this, &mover::transport_dbg);
        socket.register_get_direct_mem_ptr(this, &mover::get_direct_mem_ptr);
        sc_core::sc_spawn([this] {
            for (; goes_on(); moves += 1) {
                sc_core::wait(ns(2000));
                gives = false;
                socket->invalidate_direct_mem_ptr(0, ~uint64_t(0));
                std::memcpy(other.bytes.get(), here.bytes.get(), used);
                std::swap(here.bytes, other.bytes);
                std::memset(other.bytes.get(), 0xa5, used);
                sc_core::wait(ns(500));
                gives = true;
            }
        });
    }
    static constexpr size_t used = size_t(32) << 20;
    void b_transport(payload_type &payload, sc_time &delay)
    {
        delay += ns(40);
        here.serve(payload);
        payload.set_dmi_allowed(gives);
    }
    unsigned transport_dbg(payload_type &payload) { return debugs ? here.debug(payload) : 0; }
    bool get_direct_mem_ptr(payload_type &payload, tlm::tlm_dmi &dmi)
    {
        const uint64_t start = payload.get_address() / page * page;
        dmi.set_start_address(start);
        dmi.set_end_address(start + page - 1);
        dmi.allow_read_write();
        dmi.set_dmi_ptr(here.bytes.get() + start);
        granted_after += gives && moves > 0;
        return gives;
    }
};

/* Nothing is lost, by the core, by units, or by a bus master that has got direct memory, too. */
void test_withdrawal(void **)
{
    static const struct {
        const char *more;
        uint64_t page;
        bool debugs;
    } all[] = {{"", memories::store::size, true},
               {"", 4096, true},
               {"", 4096, false},
               {"  cpu: {tcm_size: 8KiB}\n", memories::store::size, true},
               {"  cpu: {memory: cache}\n", memories::store::size, true},
               {"  cpu: {memory: cache, dcache_size: 256, dcache_ways: 1}\n", memories::store::size, true}};
    for (const auto &[more, page, debugs] : all) {
        const simulation mine;
        const std::string way = debugs ? "bus" : "dram"; /* of the bus master */
        work network("  master: {model: external, role: link, connect: {inward: " + way +
                     "}}\n  dram: {model: external, at: 0x80000000}\n" + more);
        cnnvp::platform platform("platform", network.config, &network.options);
        mover memory("memory");
        memory.page = page;
        memory.debugs = debugs;
        memory.goes_on = [&] { return platform.result().end == CNNVP_END_MAX_TIME; };
        tlm_checker at_memory("at_memory"), at_master("at_master");
        unsigned grants = 0;
        master other("other", false, [&](master &self) {
            for (unsigned i = 0; i < 50; ++i) {
                payload_type payload;
                tlm::tlm_dmi dmi;
                payload.set_write();
                payload.set_address(scratch);
                grants += self.socket->get_direct_mem_ptr(payload, dmi);
                sc_core::wait(ns(700));
            }
        });
        platform.initiator_socket("dram").bind(at_memory.from);
        at_memory.to.bind(memory.socket);
        other.socket.bind(at_master.from);
        at_master.to.bind(platform.target_socket("master"));
        network.load(platform);
        sc_core::sc_start(ns(8000000));
        network.take(platform);
        assert_memory_equal(network.output.data(), alone().output.data(), network.output.size() * sizeof(float));
        assert_clean(at_memory);
        assert_clean(at_master);
        assert_int_equal(memory.here.broken, 0);
        assert_true(memory.moves > 5 && memory.granted_after > 5 && grants > 10 && grants < 50);
        assert_true(at_memory.invalidated > 5 && at_master.invalidated > 5);
        assert_true(at_master.gone_from <= dram_base && at_master.gone_to >= scratch);
    }
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_link),
        cmocka_unit_test(test_link_whole),
        cmocka_unit_test(test_link_whole_wrong),
        cmocka_unit_test(test_link_of_core),
        cmocka_unit_test(test_link_of_lines),
        cmocka_unit_test(test_withdrawal),
        cmocka_unit_test(test_link_errors),
        cmocka_unit_test(test_link_silent),
    };
    platform_file = "outside_link.yaml";
    const auto run_alone = [](void **) {
        (void)alone();
        return 0;
    };
    return cmocka_run_group_tests(tests, run_alone, nullptr);
}
