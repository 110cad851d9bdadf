/* SPDX-License-Identifier: Apache-2.0 */
/* Calls from C++ into a C unit and back; see "Exceptions" in unit_host.h. */
#pragma once

#include <type_traits>
#include <utility>

#include "run_control.h"
#include "unit_host.h"

namespace cnnvp {

/* Status of a call; one that returns nothing succeeds. */
template <typename Function>
int status_of(Function &&function)
{
    if constexpr (!std::is_void_v<decltype(function())>)
        return function();
    function();
    return CNNVP_OK;
}

/* Calls into the unit. Rethrows an exception that a host function has caught meanwhile, and delivers completions that
 * the unit has announced. */
template <typename Function>
int unit_host::enter(call kind, const char *callback, const cnnvp_access *serving, Function &&function)
{
    frame here{kind, {instance_.name, callback}, current_, serving, nullptr};
    const struct cnnvp_running *const before = cnnvp_running;

    current_ = &here;
    cnnvp_running = &here.who;
    const int status = status_of(function);
    cnnvp_running = before;
    current_ = here.outer;
    if (here.caught)
        std::rethrow_exception(std::exchange(here.caught, nullptr));
    if (!here.outer && !done_.empty())
        drain();
    return status;
}

/* In effect while a SystemC process of the unit itself calls the host. */
struct unit_host::own_process {
    unit_host &host;
    frame here;
    const from_outside path;

    explicit own_process(unit_host &of)
        : host(of), here{call::own, {of.instance_.name, "a SystemC process of its own"}, nullptr, nullptr, nullptr},
          path(of.control_.path())
    {
        host.path_enter(nullptr);
        enter();
    }
    ~own_process() { leave(); }
    own_process(const own_process &) = delete;
    own_process &operator=(const own_process &) = delete;

    void enter()
    {
        here.outer = std::exchange(host.current_, &here);
        cnnvp_running = &here.who;
        own_at_work_ = this;
    }
    void leave() const
    {
        host.current_ = here.outer;
        cnnvp_running = nullptr;
        own_at_work_ = nullptr;
    }
};

/* In effect while the current thread may be suspended inside a call, so that others may run. */
struct unit_host::aside {
    own_process *const own;
    const struct cnnvp_running *const running = cnnvp_running;

    explicit aside(bool suspended) : own(suspended ? own_at_work_ : nullptr)
    {
        if (own)
            own->leave();
        if (suspended)
            cnnvp_running = nullptr;
    }
    ~aside()
    {
        if (own)
            own->enter();
        cnnvp_running = running;
    }
    aside(const aside &) = delete;
    aside &operator=(const aside &) = delete;
};

/* Handles a host call outside of the unit's callbacks. */
template <typename Function>
int unit_host::called_apart(const char *name, Function &&function)
{
    int status;

    if (cnnvp_running || !sc_core::sc_get_current_process_handle().valid())
        return refuse(CNNVP_E_STATE, name, "the unit's callbacks alone may call the host");
    {
        const own_process here(*this);
        status = status_of(function);
    }
    if (!current_ && !done_.empty())
        drain();
    return status;
}

/* Calls from the unit into C++. `name`: the host function, for messages. */
template <typename Function>
int unit_host::guarded(const char *name, Function &&function)
{
    frame *const mine = at_work();
    int status;

    if (!mine)
        return called_apart(name, function);
    if (mine->caught)
        return CNNVP_E_STOPPED;
    try {
        status = status_of(function);
    } catch (...) {
        mine->caught = std::current_exception();
        cnnvp_running = &mine->who;
        status = CNNVP_E_STOPPED;
    }
    current_ = mine;
    return status;
}

} // namespace cnnvp
