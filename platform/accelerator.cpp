/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp::accelerator: a platform without core, and its ports; see cnnvp_systemc.h. */
#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "cnnvp_systemc.h"
#include "platform.h"
#include "way_in.h"

namespace cnnvp {

namespace {

using own_config = std::unique_ptr<cnnvp_config, void (*)(cnnvp_config *)>;

own_config without_core(const char *name, const cnnvp_config *config)
{
    cnnvp_config *made = nullptr;
    cnnvp_error error{};

    if (cnnvp_config_accelerator(config, &made, &error) != CNNVP_DONE)
        throw std::runtime_error(std::string(name) + ": " + error.text);
    return {made, cnnvp_config_free};
}

} // namespace

accelerator::accelerator(const sc_core::sc_module_name &name, const cnnvp_config *config,
                         const cnnvp_platform_options *options)
    : platform(name, without_core(name, config).get(), options), regs("regs"), irq("irq"), clk("clk"), rst("rst")
{
    base_ = UINT64_MAX;
    for (size_t i = 0; i < parts().resolved().instance_count; ++i)
        if (parts().resolved().instances[i].on_bus)
            base_ = std::min(base_, parts().resolved().instances[i].base);
    for (const auto &port : parts().outside())
        mem.sockets.push_back(&port->socket);
    regs.register_b_transport(this, &accelerator::b_transport);
    regs.register_transport_dbg(this, &accelerator::transport_dbg);

    parts().lead_irqs_out([this](int level) {
        lines_ += level ? 1 : -1;
        irq_changes_.notify();
    });
    sc_core::sc_spawn_options on_irq;
    on_irq.spawn_method();
    on_irq.dont_initialize();
    on_irq.set_sensitivity(&irq_changes_);
    sc_core::sc_spawn([this] { irq.write(lines_ > 0); }, "irq_changes", &on_irq);
}

/* Units that end drop their interrupts. */
accelerator::~accelerator()
{
    parts().lead_irqs_out(nullptr);
}

void accelerator::end_of_elaboration()
{
    if (rst.size() != 0) {
        sc_core::sc_spawn_options on_reset;
        on_reset.spawn_method();
        on_reset.dont_initialize();
        on_reset.set_sensitivity(&rst);
        sc_core::sc_spawn([this] { parts().reset_units(); }, "reset", &on_reset);
    }
    if (clk.size() != 0)
        check_clock();
}

void accelerator::check_clock() const
{
    const cnnvp_resolved &resolved = parts().resolved();
    const cnnvp_instance *element = nullptr;
    char text[200];

    for (size_t i = 0; i < resolved.instance_count; ++i)
        if (resolved.instances[i].on_bus && resolved.instances[i].base == base_)
            element = &resolved.instances[i];
    const auto *clock = dynamic_cast<const sc_core::sc_clock *>(clk.get_interface());
    const cnnvp_instance *source = cnnvp_instance_clock(&resolved, element);
    const uint64_t mhz = cnnvp_instance_mhz(&resolved, element, CNNVP_DEFAULT_MHZ);
    if (clock && to_ps(clock->period()) * mhz == 1'000'000 && clock->start_time() == sc_core::SC_ZERO_TIME &&
        clock->posedge_first())
        return;
    std::snprintf(
        text, sizeof text,
        "%s: not the units' clock, %llu MHz: bind an sc_clock of that period that rises at 0, or set %s.clock_mhz",
        clk.name(), static_cast<unsigned long long>(mhz), (source ? source : element)->name);
    SC_REPORT_ERROR("cnnvp", text);
}

void accelerator::b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
{
    if (delay != sc_core::SC_ZERO_TIME)
        sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    const from_outside here(parts().control().path());
    const char *const wrong = serve_pieces(payload, 0, [&](cnnvp_access &access) {
        access.address += base_;
        access.delay = to_ps(delay);
        const int status = parts().memory().pass(access);
        delay = from_ps(access.delay);
        return status;
    });
    tell_wrong(parts().control(), basename(), wrong, wrong_);
}

unsigned accelerator::transport_dbg(tlm::tlm_generic_payload &payload)
{
    (void)serve_pieces(payload, CNNVP_DEBUG, [&](cnnvp_access &access) {
        access.address += base_;
        return parts().memory().pass(access);
    });
    return payload.is_response_ok() ? payload.get_data_length() : 0;
}

} // namespace cnnvp
