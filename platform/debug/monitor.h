/* SPDX-License-Identifier: Apache-2.0 */
/* Answers a debugger user's questions about the platform: GDB's `monitor WORDS`. */
#pragma once

#include <string>

#include "platform.h"
extern "C" {
#include "recorder.h"
}

namespace cnnvp {

/* Returns the answer as readable lines. `monitor help` lists the commands. Changes nothing. */
std::string monitor(platform::design &platform, cnnvp_recorder &recorder, const std::string &words);

} // namespace cnnvp
