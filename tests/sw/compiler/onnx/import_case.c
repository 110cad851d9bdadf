/* SPDX-License-Identifier: Apache-2.0 */
#include "import_case.h"
