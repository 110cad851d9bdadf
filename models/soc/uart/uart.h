/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CNNVP_UART_H
#define CNNVP_UART_H

#include "cnnvp_model.h"

extern const struct cnnvp_unit cnnvp_unit_uart;

#endif
