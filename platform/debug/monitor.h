/* SPDX-License-Identifier: Apache-2.0 */
/* What a debugger's user may ask of the platform beside the core: GDB's `monitor WORDS`. */
#ifndef CNNVP_PLATFORM_MONITOR_H
#define CNNVP_PLATFORM_MONITOR_H

#include <string>

#include "platform.h"
#include "recorder.h"

namespace cnnvp {

/* The answer, for a person, with line ends. `monitor help` says what there is. Changes nothing. */
std::string monitor(platform::design &platform, cnnvp_recorder &recorder, const std::string &words);

} // namespace cnnvp

#endif
