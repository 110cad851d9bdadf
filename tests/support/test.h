/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka with the headers that it needs first, and headers that nearly every test uses. */
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
