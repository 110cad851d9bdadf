/* SPDX-License-Identifier: Apache-2.0 */
/* The files below web/ as texts, made at build time. */
#ifndef CNNVP_EXPLORE_PAGE_H
#define CNNVP_EXPLORE_PAGE_H

extern const unsigned char cnnvp_page_css[];
extern const unsigned char cnnvp_page_uplot_css[];
extern const unsigned char cnnvp_page_uplot_js[];
extern const unsigned char cnnvp_page_common_js[];
extern const unsigned char cnnvp_page_sweep_js[];
extern const unsigned char cnnvp_page_run_js[];

#endif
