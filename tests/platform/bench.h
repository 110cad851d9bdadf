/* SPDX-License-Identifier: Apache-2.0 */
/* A platform of agents for tests: what a configuration would say, said in C++. */
#ifndef CNNVP_TEST_BENCH_H
#define CNNVP_TEST_BENCH_H

#include <cstdarg>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "agent.h"
#include "platform.h"

extern "C" {
#include "test.h"
}

namespace bench {

class network {
public:
    /* Returns the instance's number. `unit` null: the bus. */
    uint32_t add(const char *name, const cnnvp_unit *unit = &cnnvp_unit_agent, uint64_t size = 0x10000)
    {
        values_.push_back({size, 500});
        texts_.push_back({"", "500"});
        places_.push_back({{"test.yaml:1:1"}, {"test.yaml:2:2"}});
        bindings_.emplace_back();
        cnnvp_instance instance{};
        instance.name = name;
        instance.unit = unit;
        instance.model = "agent";
        instance.number = static_cast<uint32_t>(instances_.size());
        instance.clock = CNNVP_NO_INSTANCE;
        instance.speedup = 1;
        instance.place = {"test.yaml:9:9"};
        instances_.push_back(instance);
        return instance.number;
    }
    void at(uint32_t instance, uint64_t base, uint64_t size, uint32_t port)
    {
        instances_[instance].on_bus = 1;
        instances_[instance].base = base;
        instances_[instance].size = size;
        instances_[instance].bus_port = port;
    }
    void bind(uint32_t from, uint32_t port, uint32_t to, uint32_t to_port = 0, uint32_t line = 0)
    {
        bindings_[from].push_back({port, to, to_port, line, nullptr, 0});
    }
    const cnnvp_resolved &resolved()
    {
        for (size_t i = 0; i < instances_.size(); ++i) {
            instances_[i].values = values_[i].data();
            instances_[i].texts = texts_[i].data();
            instances_[i].places = places_[i].data();
            instances_[i].bindings = bindings_[i].data();
            instances_[i].binding_count = bindings_[i].size();
        }
        resolved_ = {"test", instances_.data(), instances_.size(), nullptr};
        return resolved_;
    }

private:
    std::vector<cnnvp_instance> instances_;
    std::deque<std::vector<uint64_t>> values_;
    std::deque<std::vector<const char *>> texts_;
    std::deque<std::vector<cnnvp_place>> places_;
    std::deque<std::vector<cnnvp_binding>> bindings_;
    cnnvp_resolved resolved_{};
};

/* A built platform; warnings are not shown. */
class platform {
public:
    explicit platform(network &net, cnnvp_recorder *recorder = nullptr, bool strict = false)
    {
        cnnvp::run_control::options options;
        options.verbosity = -1;
        options.strict = strict;
        options.recorder = recorder;
        cnnvp_error error;
        error.text[0] = 0;
        if (cnnvp::platform::design::build(net.resolved(), options, &made_, &error) != CNNVP_DONE)
            fail_msg("%s", error.text);
    }
    agent *operator[](const char *name) { return static_cast<agent *>(made_->find(name)->self()); }
    cnnvp_run_result run(cnnvp_time max = 0)
    {
        cnnvp_run_result result{};
        made_->run(max, &result);
        return result;
    }
    cnnvp::platform::design &get() { return *made_; }

private:
    std::unique_ptr<cnnvp::platform::design> made_;
};

} // namespace bench

#endif
