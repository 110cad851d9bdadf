/* SPDX-License-Identifier: Apache-2.0 */
/* The classes of cnnvp_systemc.h. They use the platform through members of platform::design only, because these files
 * form a separate library beside that of the C API. The accelerator: accelerator.cpp. */
#include "cnnvp_systemc.h"

#include <stdexcept>
#include <string>

#include "platform.h"

cnnvp_result cnnvp::platform_new(const cnnvp_config *config, const cnnvp_platform_options *options,
                                 const bind_memory &bind, cnnvp_platform **platform, cnnvp_error *error)
{
    cnnvp_error unwanted;

    return platform::design::make(config, options, &bind, platform, error ? error : &unwanted);
}

/* Gives a clearer message than SystemC's own would be. */
static const sc_core::sc_module_name &in_elaboration(const sc_core::sc_module_name &name)
{
    if (sc_core::sc_get_status() != sc_core::SC_ELABORATION)
        throw std::runtime_error(std::string(name) + ": a platform is made before the first sc_start");
    return name;
}

cnnvp::platform::platform(const sc_core::sc_module_name &name, const cnnvp_config *config,
                          const cnnvp_platform_options *options)
    : sc_core::sc_module(in_elaboration(name))
{
    cnnvp_error error{};

    if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_PS))
        throw std::runtime_error(std::string(this->name()) + ": the simulation's time resolution is " +
                                 sc_core::sc_get_time_resolution().to_string() +
                                 "; a platform needs 1 ps: sc_set_time_resolution(1, SC_PS)");
    if (design::make(config, options, nullptr, &handle_, &error) != CNNVP_DONE)
        throw std::runtime_error(std::string(this->name()) + ": " + error.text);
}

cnnvp::platform::~platform()
{
    design::end(handle_);
}

cnnvp::platform::design &cnnvp::platform::parts() const
{
    return design::of(handle_);
}

const sc_core::sc_event &cnnvp::platform::done_event() const
{
    return parts().done_event();
}

cnnvp_run_result cnnvp::platform::result() const
{
    return parts().progress();
}

/* Returns an instance's port; throws if it was not found. */
template <typename Port>
static Port &there(const cnnvp::platform &platform, Port *port, const std::string &instance, const char *wanted)
{
    if (port)
        return *port;
    throw std::runtime_error(std::string(platform.name()) + ": no instance \"" + instance + "\" " + wanted);
}

cnnvp::memory_socket &cnnvp::platform::initiator_socket(const std::string &instance)
{
    return there(*this, parts().find_outside(instance), instance,
                 "leads outside (`model: external`, and something of the platform leads to it)");
}

cnnvp::guest_socket &cnnvp::platform::target_socket(const std::string &instance)
{
    return there(*this, parts().find_inside(instance), instance,
                 "leads inside (`model: external, role: link, connect: {inward: bus}`)");
}

cnnvp::irq_port &cnnvp::platform::irq_in(const std::string &instance)
{
    return there(*this, parts().find_irq(instance), instance,
                 "leads outside and has an interrupt (`model: external`, `irq: NUMBER`)");
}

cnnvp::line_port &cnnvp::platform::irq_out(const std::string &instance)
{
    return there(*this, parts().find_line(instance), instance, "leads outside (`model: external`)");
}
