/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "explore.h"

/* Writes a page from its script and data. The file appears only when complete. */
CNNVP_MUST_USE cnnvp_result cnnvp_page_write(const char *file, const char *json, const unsigned char *script,
                                             struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_report_run(const char *folder, const char *html_file, struct cnnvp_error *error);
CNNVP_MUST_USE cnnvp_result cnnvp_report_sweep(const char *database, const char *html_file,
                                               void (*watch)(void *context, double share), void *context,
                                               struct cnnvp_error *error);
