/* SPDX-License-Identifier: Apache-2.0 */
/* The files below web/ as text, embedded at build time: the style of all pages, and the scripts of each page. */
#pragma once

extern const unsigned char cnnvp_page_style[];
extern const unsigned char cnnvp_page_run[];
extern const unsigned char cnnvp_page_compare[];
extern const unsigned char cnnvp_page_sweep[];
