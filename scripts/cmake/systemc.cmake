# SPDX-License-Identifier: Apache-2.0
# Finds SystemC as the target SystemC::systemc, and says how the installed copy's cnnvp.pc leads to the same one:
# CNNVP_SYSTEMC_REQUIRES, CNNVP_SYSTEMC_CFLAGS and CNNVP_SYSTEMC_LIBS, which may hold generator expressions.
find_package(PkgConfig REQUIRED)
set(CNNVP_SYSTEMC_REQUIRES "")
set(CNNVP_SYSTEMC_CFLAGS "")
set(CNNVP_SYSTEMC_LIBS "")

# SystemC 3 installs a CMake package, Debian's 2.3.4 pkg-config files.
find_package(SystemCLanguage CONFIG QUIET)
if(TARGET SystemC::systemc)
  set(folders $<FILTER:$<TARGET_PROPERTY:SystemC::systemc,INTERFACE_INCLUDE_DIRECTORIES>,INCLUDE,.>)
  set(definitions $<FILTER:$<TARGET_PROPERTY:SystemC::systemc,INTERFACE_COMPILE_DEFINITIONS>,INCLUDE,.>)
  set(CNNVP_SYSTEMC_CFLAGS
      "$<$<BOOL:${folders}>:-I$<JOIN:${folders}, -I>> $<$<BOOL:${definitions}>:-D$<JOIN:${definitions}, -D>>")
  # SystemC 3's CMake build makes libsystemc.so or libsystemc.a, whatever its version.
  set(folder $<TARGET_LINKER_FILE_DIR:SystemC::systemc>)
  set(CNNVP_SYSTEMC_LIBS "-L${folder} -Wl,-rpath,${folder} -lsystemc -pthread")
else()
  pkg_check_modules(SYSTEMC QUIET IMPORTED_TARGET systemc)
  if(NOT SYSTEMC_FOUND)
    message(FATAL_ERROR
      "SystemC was not found. On Debian or Ubuntu: apt-get install libsystemc-dev. Otherwise install SystemC 2.3.4 or "
      "3.x built with -DCMAKE_CXX_STANDARD=17 and set CMAKE_PREFIX_PATH or PKG_CONFIG_PATH to it.")
  endif()
  add_library(SystemC::systemc ALIAS PkgConfig::SYSTEMC)
  set(other_folders ${SYSTEMC_LIBRARY_DIRS})
  list(REMOVE_ITEM other_folders ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
  if(other_folders)
    list(JOIN SYSTEMC_CFLAGS " " CNNVP_SYSTEMC_CFLAGS)
    list(JOIN other_folders " -Wl,-rpath," folders)
    list(JOIN SYSTEMC_STATIC_LDFLAGS " " CNNVP_SYSTEMC_LIBS)
    string(APPEND CNNVP_SYSTEMC_LIBS " -Wl,-rpath,${folders}")
  else()
    # The system's own: every pkg-config finds it, and it may be anywhere on another machine.
    set(CNNVP_SYSTEMC_REQUIRES "systemc = ${SYSTEMC_VERSION}")
  endif()
endif()
