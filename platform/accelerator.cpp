/* SPDX-License-Identifier: Apache-2.0 */
/* cnnvp::accelerator: a platform without a core, with its ports; see cnnvp_systemc.h. */
#include <memory>
#include <stdexcept>
#include <string>

#include "cnnvp_systemc.h"
#include "platform.h"

namespace cnnvp {

namespace {

using own_config = std::unique_ptr<cnnvp_config, void (*)(cnnvp_config *)>;

own_config without_core(const char *name, const cnnvp_config *config)
{
    cnnvp_error error{};
    own_config made(platform::design::without_core(config, &error), cnnvp_config_free);

    if (!made)
        throw std::runtime_error(std::string(name) + ": " + error.text);
    return made;
}

} // namespace

accelerator::accelerator(const sc_core::sc_module_name &name, const cnnvp_config *config,
                         const cnnvp_platform_options *options)
    : platform(name, without_core(name, config).get(), options), regs("regs"), irq("irq"), clk("clk"), rst("rst")
{
    for (const auto &port : parts().outside())
        mem.sockets.push_back(&port->socket);
    regs.register_b_transport(this, &accelerator::b_transport);
    regs.register_transport_dbg(this, &accelerator::transport_dbg);

    parts().lead_irqs_out([this](int level) {
        lines_ += level ? 1 : -1;
        irq_changes_.notify();
    });
    spawn_method("irq_changes", &irq_changes_, [this] { irq.write(lines_ > 0); });
}

/* Units drop their interrupts when they end, so the callback must be gone by then. */
accelerator::~accelerator()
{
    parts().lead_irqs_out(nullptr);
}

void accelerator::end_of_elaboration()
{
    if (rst.size() != 0) {
        spawn_method("reset", &rst, [this] { parts().reset_units(); });
    }
    if (clk.size() != 0)
        check_clock();
}

void accelerator::check_clock() const
{
    const std::string wrong = parts().check_clock(dynamic_cast<const sc_core::sc_clock *>(clk.get_interface()));
    if (!wrong.empty())
        SC_REPORT_ERROR("cnnvp", (std::string(clk.name()) + wrong).c_str());
}

void accelerator::b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay)
{
    parts().serve_registers(payload, delay, basename());
}

unsigned accelerator::transport_dbg(tlm::tlm_generic_payload &payload)
{
    return parts().debug_registers(payload);
}

} // namespace cnnvp
