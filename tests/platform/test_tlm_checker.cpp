/* SPDX-License-Identifier: Apache-2.0 */
/* The checker of the base protocol finds each fault that it is there for, in whoever makes it, and no other. */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "tlm_checker.h"

extern "C" {
#include <cmocka.h>
}

namespace {

using sc_core::sc_time;
using payload_type = tlm::tlm_generic_payload;
using answer = tlm::tlm_sync_enum;

/* Both ends of a connection, on bare sockets. */
struct ends : sc_core::sc_module, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>, tlm::tlm_mm_interface {
    tlm::tlm_initiator_socket<> out{"out"};
    tlm::tlm_target_socket<> in{"in"};
    tlm_checker checker{"checker"};
    std::function<void(payload_type &)> serve = [](payload_type &payload) {
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    };
    std::function<answer(payload_type &, tlm::tlm_phase &, sc_time &)> forward, backward;
    std::function<bool(payload_type &, tlm::tlm_dmi &)> direct;
    unsigned debugged = 4;
    unsigned char data[8] = {}, enables[4] = {};

    explicit ends(const sc_core::sc_module_name &name) : sc_core::sc_module(name)
    {
        out.bind(static_cast<tlm::tlm_bw_transport_if<> &>(*this));
        in.bind(static_cast<tlm::tlm_fw_transport_if<> &>(*this));
        out.bind(checker.from);
        checker.to.bind(in);
    }
    void fill(payload_type &payload, tlm::tlm_command command = tlm::TLM_WRITE_COMMAND)
    {
        payload.set_command(command);
        payload.set_address(0x1000);
        payload.set_data_ptr(data);
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        payload.set_mm(this);
        payload.acquire();
    }
    void free(payload_type *) override {}
    void blocking(payload_type &payload)
    {
        sc_time none;
        out->b_transport(payload, none);
    }
    answer begin(payload_type &payload, tlm::tlm_phase phase = tlm::BEGIN_REQ, double ns = 0)
    {
        sc_time delay(ns, sc_core::SC_NS);
        return out->nb_transport_fw(payload, phase, delay);
    }
    answer respond(payload_type &payload, tlm::tlm_phase phase, double ns = 0)
    {
        sc_time delay(ns, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        return in->nb_transport_bw(payload, phase, delay);
    }

    void b_transport(payload_type &payload, sc_time &) override { serve(payload); }
    answer nb_transport_fw(payload_type &payload, tlm::tlm_phase &phase, sc_time &delay) override
    {
        return forward ? forward(payload, phase, delay) : tlm::TLM_ACCEPTED;
    }
    answer nb_transport_bw(payload_type &payload, tlm::tlm_phase &phase, sc_time &delay) override
    {
        return backward ? backward(payload, phase, delay) : tlm::TLM_ACCEPTED;
    }
    unsigned transport_dbg(payload_type &) override { return debugged; }
    bool get_direct_mem_ptr(payload_type &payload, tlm::tlm_dmi &dmi) override
    {
        return direct && direct(payload, dmi);
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

using acts = std::function<void(ends &, payload_type &, payload_type &)>;

/* What the checker says of it, in a thread. */
std::string said(const acts &act, bool in_method = false)
{
    auto *const mine = new sc_core::sc_simcontext;
    sc_core::sc_curr_simcontext = mine;
    std::string text;
    {
        ends pair("pair");
        payload_type first, second;
        pair.fill(first);
        pair.fill(second);
        sc_core::sc_spawn_options options;
        if (in_method)
            options.spawn_method();
        sc_core::sc_spawn([&] { act(pair, first, second); }, "act", &options);
        sc_core::sc_start(sc_time(1, sc_core::SC_US));
        text = pair.checker.text();
    }
    delete mine;
    sc_core::sc_curr_simcontext = nullptr;
    return text;
}

void expect(const char *what, const acts &act, bool in_method = false)
{
    const std::string text = said(act, in_method);
    if (text != (*what != '\0' ? what + std::string("\n") : std::string()))
        fail_msg("\"%s\" instead of \"%s\"", text.c_str(), what);
}

answer updated(payload_type &payload, tlm::tlm_phase &phase, const tlm::tlm_phase &to, bool responds = true)
{
    phase = to;
    if (responds)
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return tlm::TLM_UPDATED;
}

void test_right(void **)
{
    expect("", [](ends &pair, payload_type &first, payload_type &second) {
        pair.blocking(first);
        pair.begin(second);
        pair.respond(second, tlm::END_REQ, 1);
        first.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        pair.begin(first);
        pair.respond(second, tlm::BEGIN_RESP, 2);
        pair.begin(second, tlm::END_RESP, 3);
        pair.respond(first, tlm::BEGIN_RESP, 4);
        pair.begin(first, tlm::END_RESP, 5);
        (void)pair.out->transport_dbg(first);
        assert_int_equal(pair.checker.open(), 0);
    });
    expect("", [](ends &pair, payload_type &first, payload_type &second) {
        pair.forward = [](payload_type &payload, tlm::tlm_phase &phase, sc_time &) {
            return phase == tlm::BEGIN_REQ ? updated(payload, phase, tlm::BEGIN_RESP) : tlm::TLM_COMPLETED;
        };
        pair.begin(first);
        pair.begin(first, tlm::END_RESP);
        pair.forward = [](payload_type &payload, tlm::tlm_phase &, sc_time &) {
            payload.set_response_status(tlm::TLM_OK_RESPONSE);
            return tlm::TLM_COMPLETED;
        };
        pair.begin(second);
    });
}

void test_initiators(void **)
{
    expect("initiator: 14.12 data length 0", [](ends &pair, payload_type &first, payload_type &) {
        first.set_data_length(0);
        pair.blocking(first);
    });
    expect("initiator: 14.11 null data", [](ends &pair, payload_type &first, payload_type &) {
        first.set_data_ptr(nullptr);
        pair.begin(first);
    });
    expect("initiator: 14.16 streaming width 0", [](ends &pair, payload_type &first, payload_type &) {
        first.set_streaming_width(0);
        pair.blocking(first);
    });
    expect("initiator: 14.14 byte enables of length 0", [](ends &pair, payload_type &first, payload_type &) {
        first.set_byte_enable_ptr(pair.enables);
        pair.blocking(first);
    });
    expect("initiator: 14.17 response set before", [](ends &pair, payload_type &first, payload_type &) {
        first.set_response_status(tlm::TLM_OK_RESPONSE);
        pair.blocking(first);
    });
    expect("initiator: 14.18 hint set before", [](ends &pair, payload_type &first, payload_type &) {
        first.set_dmi_allowed(true);
        pair.blocking(first);
    });
    expect(
        "initiator: 11.1.1 b_transport from a method",
        [](ends &pair, payload_type &first, payload_type &) { pair.blocking(first); }, true);
    expect("initiator: 14.5 no memory manager", [](ends &pair, payload_type &, payload_type &) {
        payload_type own;
        pair.fill(own);
        own.set_mm(nullptr);
        pair.begin(own);
        own.set_mm(&pair);
    });
    expect("initiator: 14.5 payload used while it is under way", [](ends &pair, payload_type &first, payload_type &) {
        pair.begin(first);
        pair.respond(first, tlm::END_REQ);
        first.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        pair.begin(first);
    });
    expect("initiator: 15.2.6 BEGIN_REQ before END_REQ of another",
           [](ends &pair, payload_type &first, payload_type &second) {
               pair.begin(first);
               pair.begin(second);
           });
    expect("initiator: 15.2.4 END_RESP out of order", [](ends &pair, payload_type &first, payload_type &) {
        pair.begin(first);
        pair.begin(first, tlm::END_RESP);
    });
    expect("initiator: 15.2.9 a phase before the one before it", [](ends &pair, payload_type &first, payload_type &) {
        pair.begin(first);
        pair.respond(first, tlm::BEGIN_RESP, 5);
        pair.begin(first, tlm::END_RESP, 4);
    });
    expect("initiator: 11.1.2 TLM_ACCEPTED with another phase or time",
           [](ends &pair, payload_type &first, payload_type &) {
               pair.backward = [](payload_type &, tlm::tlm_phase &, sc_time &delay) {
                   delay = sc_time(1, sc_core::SC_NS);
                   return tlm::TLM_ACCEPTED;
               };
               pair.begin(first);
               pair.respond(first, tlm::END_REQ);
           });
    expect("initiator: 15.2.3 END_REQ not answered TLM_ACCEPTED", [](ends &pair, payload_type &first, payload_type &) {
        pair.backward = [](payload_type &, tlm::tlm_phase &, sc_time &) { return tlm::TLM_COMPLETED; };
        pair.begin(first);
        pair.respond(first, tlm::END_REQ);
    });
    expect("initiator: 15.2.3 BEGIN_RESP answered otherwise", [](ends &pair, payload_type &first, payload_type &) {
        pair.backward = [](payload_type &, tlm::tlm_phase &, sc_time &) { return tlm::TLM_UPDATED; };
        pair.begin(first);
        pair.respond(first, tlm::BEGIN_RESP);
    });
}

void test_targets(void **)
{
    expect("target: 14.7 attributes changed", [](ends &pair, payload_type &first, payload_type &) {
        pair.serve = [](payload_type &payload) {
            payload.get_data_ptr()[3] ^= 1;
            payload.set_response_status(tlm::TLM_OK_RESPONSE);
        };
        pair.blocking(first);
    });
    expect("target: 14.7 attributes changed", [](ends &pair, payload_type &first, payload_type &) {
        pair.begin(first);
        first.set_streaming_width(2);
        pair.respond(first, tlm::BEGIN_RESP);
    });
    expect("target: 14.17 no response", [](ends &pair, payload_type &first, payload_type &) {
        pair.serve = [](payload_type &) {};
        pair.blocking(first);
    });
    expect("target: 14.17 no response", [](ends &pair, payload_type &first, payload_type &) {
        pair.forward = [](payload_type &payload, tlm::tlm_phase &phase, sc_time &) {
            return updated(payload, phase, tlm::BEGIN_RESP, false);
        };
        pair.begin(first);
    });
    expect("target: 15.2.4 a phase of no transaction",
           [](ends &pair, payload_type &first, payload_type &) { pair.respond(first, tlm::BEGIN_RESP); });
    expect("target: 15.2.4 END_REQ out of order", [](ends &pair, payload_type &first, payload_type &) {
        pair.begin(first);
        pair.respond(first, tlm::END_REQ);
        pair.respond(first, tlm::END_REQ);
    });
    expect("target: 15.2.6 BEGIN_RESP before END_RESP of another",
           [](ends &pair, payload_type &first, payload_type &second) {
               pair.begin(first);
               pair.respond(first, tlm::BEGIN_RESP);
               pair.begin(second);
               pair.respond(second, tlm::BEGIN_RESP);
           });
    expect("target: 15.2.4 a phase that is not the target's", [](ends &pair, payload_type &first, payload_type &) {
        pair.begin(first);
        pair.respond(first, tlm::BEGIN_REQ);
    });
    expect("target: 15.2.9 a phase before the one before it", [](ends &pair, payload_type &first, payload_type &) {
        pair.begin(first, tlm::BEGIN_REQ, 5);
        pair.respond(first, tlm::END_REQ, 4);
    });
    expect("target: 11.1.2 TLM_ACCEPTED with another phase or time",
           [](ends &pair, payload_type &first, payload_type &) {
               pair.forward = [](payload_type &, tlm::tlm_phase &phase, sc_time &) {
                   phase = tlm::END_REQ;
                   return tlm::TLM_ACCEPTED;
               };
               pair.begin(first);
           });
    expect("target: 15.2.3 END_RESP answered TLM_UPDATED", [](ends &pair, payload_type &first, payload_type &) {
        pair.begin(first);
        pair.respond(first, tlm::BEGIN_RESP);
        pair.forward = [](payload_type &, tlm::tlm_phase &, sc_time &) { return tlm::TLM_UPDATED; };
        pair.begin(first, tlm::END_RESP);
    });
    expect("target: 11.3 more than was asked for", [](ends &pair, payload_type &first, payload_type &) {
        pair.debugged = 5;
        (void)pair.out->transport_dbg(first);
    });
    for (const char *what :
         {"target: 11.2 another region", "target: 11.2 no pointer", "target: 11.2 less than was asked for"})
        expect(what, [what](ends &pair, payload_type &first, payload_type &) {
            const std::string wrong = what;
            pair.direct = [wrong, &pair](payload_type &, tlm::tlm_dmi &dmi) {
                dmi.init();
                dmi.set_granted_access(wrong.find("less") == std::string::npos ? tlm::tlm_dmi::DMI_ACCESS_READ_WRITE
                                                                               : tlm::tlm_dmi::DMI_ACCESS_READ);
                dmi.set_dmi_ptr(wrong.find("pointer") == std::string::npos ? pair.data : nullptr);
                dmi.set_end_address(wrong.find("region") == std::string::npos ? 0x1fff : 0xfff);
                return true;
            };
            tlm::tlm_dmi dmi;
            (void)pair.out->get_direct_mem_ptr(first, dmi);
        });
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_right), cmocka_unit_test(test_initiators), cmocka_unit_test(test_targets)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
