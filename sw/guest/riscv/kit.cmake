# SPDX-License-Identifier: Apache-2.0
# CMake rules for a program on the kit. Include this before `project`, which then compiles for the core. Afterwards
#   cnnvp_add_program(NAME PLATFORM SOURCE...)
# builds NAME.elf for a preset or platform file, and the target `run` runs it. CNNVP is the command cnnvp, which runs it.
set(CNNVP_KIT ${CMAKE_CURRENT_LIST_DIR})
find_program(CNNVP cnnvp PATHS ${CNNVP_KIT}/../../../bin DOC "The command cnnvp")
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc CACHE STRING "C compiler for the core")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # programs cannot be linked without the kit's flags

function(cnnvp_add_program name platform)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/platform.h)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${platform})
    set(platform ${CMAKE_CURRENT_SOURCE_DIR}/${platform})
    set(file ${platform})
  endif()
  add_custom_command(OUTPUT ${header} COMMAND ${CNNVP} check ${platform} --header ${header} DEPENDS ${file} VERBATIM)
  add_executable(${name}.elf ${ARGN} ${header} ${CNNVP_KIT}/kit.c ${CNNVP_KIT}/machine.c ${CNNVP_KIT}/element.c)
  target_include_directories(${name}.elf PRIVATE ${CMAKE_CURRENT_BINARY_DIR} ${CNNVP_KIT})
  target_compile_options(${name}.elf PRIVATE @${CNNVP_KIT}/kit.cflags -O2 -g)
  target_link_options(${name}.elf PRIVATE @${CNNVP_KIT}/kit.cflags @${CNNVP_KIT}/kit.ldflags)
  add_custom_target(run COMMAND ${CNNVP} exec ${name}.elf -p ${platform} DEPENDS ${name}.elf USES_TERMINAL VERBATIM)
endfunction()
