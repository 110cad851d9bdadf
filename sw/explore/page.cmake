# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=FILE.c -DFOLDER=web -P page.cmake: the pages' files as C arrays.
set(text "/* SPDX-License-Identifier: Apache-2.0 */\n#include \"page.h\"\n")
foreach(pair "css=page.css" "uplot_css=uPlot.min.css" "uplot_js=uPlot.iife.min.js" "common_js=common.js" "sweep_js=sweep.js" "run_js=run.js")
  string(REGEX MATCH "^([^=]+)=(.+)$" unused "${pair}")
  set(name ${CMAKE_MATCH_1})
  file(READ ${FOLDER}/${CMAKE_MATCH_2} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "const unsigned char cnnvp_page_${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
