/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka, what its header needs before it, and what nearly every test uses. */
#ifndef CNNVP_TESTS_TEST_H
#define CNNVP_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#endif
