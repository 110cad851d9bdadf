/* SPDX-License-Identifier: Apache-2.0 */
/* A program with a SystemC simulation of its own, around a platform of ours; and what it is told where it is wrong. */
#ifndef CNNVP_TESTS_OWN_SIMULATION_H
#define CNNVP_TESTS_OWN_SIMULATION_H

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include <systemc>

extern "C" {
#include <cmocka.h>
}

/* Its context is the present one. */
struct simulation {
    sc_core::sc_simcontext *const own = new sc_core::sc_simcontext;
    simulation() { sc_core::sc_curr_simcontext = own; }
    ~simulation()
    {
#if SC_VERSION_MAJOR < 3 /* in which the end of a context with threads in it crashes */
        delete own;
#endif
        sc_core::sc_curr_simcontext = nullptr;
    }
    simulation(const simulation &) = delete;
    simulation &operator=(const simulation &) = delete;
};

/* What a call throws; "" where it does not. */
template <typename Function>
std::string refusal(Function &&function)
{
    try {
        function();
    } catch (const std::exception &problem) {
        return problem.what();
    }
    return "";
}

inline void assert_says(const std::string &text, const char *what)
{
    if (text.find(what) == std::string::npos)
        fail_msg("\"%s\" is not in: %s", what, text.c_str());
}

#endif
