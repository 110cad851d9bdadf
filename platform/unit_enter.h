/* SPDX-License-Identifier: Apache-2.0 */
/* The two ways across the border between C++ and a C unit; see "Exceptions" in unit_host.h. */
#ifndef CNNVP_PLATFORM_UNIT_ENTER_H
#define CNNVP_PLATFORM_UNIT_ENTER_H

#include <utility>

#include "unit_host.h"

namespace cnnvp {

/* Into the unit. Rethrows what a host function has caught meanwhile; delivers the completions that were announced. */
template <typename Function>
int unit_host::enter(call kind, const char *callback, const cnnvp_access *serving, Function &&function)
{
    frame here{kind, {instance_.name, callback}, current_, serving, nullptr};
    const struct cnnvp_running *const before = cnnvp_running;

    current_ = &here;
    cnnvp_running = &here.who;
    const int status = function();
    cnnvp_running = before;
    current_ = here.outer;
    if (here.caught)
        std::rethrow_exception(std::exchange(here.caught, nullptr));
    if (!here.outer && !done_.empty())
        drain();
    return status;
}

/* From the unit into C++. `name`: of the host's function, for a message. */
template <typename Function>
int unit_host::guarded(const char *name, Function &&function) noexcept
{
    frame *const mine = current_;
    int status;

    if (!mine)
        return refuse(CNNVP_E_STATE, name, "the unit's callbacks alone may call the host");
    if (mine->caught)
        return CNNVP_E_STOPPED;
    try {
        status = function();
    } catch (...) {
        mine->caught = std::current_exception();
        status = CNNVP_E_STOPPED;
    }
    current_ = mine;
    return status;
}

} // namespace cnnvp

#endif
