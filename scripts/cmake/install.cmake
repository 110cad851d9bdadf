# SPDX-License-Identifier: Apache-2.0
# What an installation holds beside the program, the guest program and the presets (those are installed where they are
# made): headers, the platform as a shared and as a static library, pkg-config and CMake package files, manual pages,
# completion for bash.
# Nothing holds an absolute path: the prefix can be moved.
include(CMakePackageConfigHelpers)

file(GLOB api_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/c_api/*.h)
install(FILES ${api_headers} ${PROJECT_SOURCE_DIR}/platform/include/cnnvp_systemc.h ${PROJECT_BINARY_DIR}/include/cnnvp_isa.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cnnvp)

# ---- libcnnvp.so, libcnnvp_systemc.so, libcnnvp.a: the platform, its units and the software around it ----

# The first and the last are one object that shows what the headers of c_api and cnnvp_systemc.h do, which is what has default visibility,
# and nothing else: other people's names may be those of ours. LIBRARY_VERSION: the first number where a client has to be
# built again, the second where it finds more; tests/abi/libcnnvp.abi has what is in it.
set(CNNVP_LIBRARY_VERSION 1.8)
string(REGEX MATCH "^[0-9]+" CNNVP_SOVERSION ${CNNVP_LIBRARY_VERSION})

# All static libraries of ours that a target links, itself included.
function(cnnvp_collect_archives target)
  get_property(seen GLOBAL PROPERTY CNNVP_ARCHIVES)
  if(NOT TARGET ${target} OR target IN_LIST seen)
    return()
  endif()
  get_target_property(imported ${target} IMPORTED)
  get_target_property(kind ${target} TYPE)
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    cnnvp_collect_archives(${aliased})
  endif()
  if(imported OR aliased)
    return()
  endif()
  if(kind STREQUAL STATIC_LIBRARY)
    set_property(GLOBAL APPEND PROPERTY CNNVP_ARCHIVES ${target})
  endif()
  foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
    if(kind STREQUAL INTERFACE_LIBRARY AND property STREQUAL LINK_LIBRARIES)
      continue()
    endif()
    get_target_property(libraries ${target} ${property})
    foreach(library ${libraries})
      string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" library "${library}")
      cnnvp_collect_archives("${library}")
    endforeach()
  endforeach()
endfunction()

set(api_libraries cnnvp_explore cnnvp_run cnnvp_data cnnvp_compiler cnnvp_asm cnnvp_memory cnnvp)
foreach(library ${api_libraries})
  cnnvp_collect_archives(${library})
endforeach()
get_property(archives GLOBAL PROPERTY CNNVP_ARCHIVES)
list(REMOVE_ITEM archives ${api_libraries}) # of these what the others need
foreach(list archives api_libraries)
  list(TRANSFORM ${list} REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE ${list}_files)
endforeach()
set(whole_object ${PROJECT_BINARY_DIR}/lib/cnnvp.o)
set(whole_library ${PROJECT_BINARY_DIR}/lib/libcnnvp.a)
# Groups of sections, of C++'s inline functions, have become ordinary ones: none of another program takes their place.
add_custom_command(
  OUTPUT ${whole_object}
  COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -o ${whole_object} -Wl,--force-group-allocation
          -Wl,--whole-archive ${api_libraries_files} -Wl,--no-whole-archive -Wl,--start-group ${archives_files} -Wl,--end-group
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden --wildcard --keep-global-symbol=cnnvp_* --keep-global-symbol=*sc_main*
          --keep-global-symbol=_ZN5cnnvp* --keep-global-symbol=_ZNK5cnnvp* --keep-global-symbol=_ZT*N5cnnvp* ${whole_object}
  DEPENDS ${archives} ${api_libraries}
  COMMENT "libcnnvp with all units"
  VERBATIM)
add_custom_command(
  OUTPUT ${whole_library}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${whole_library}
  COMMAND ${CMAKE_AR} rcsD ${whole_library} ${whole_object}
  DEPENDS ${whole_object}
  VERBATIM)
set(CNNVP_PC_REQUIRES libfyaml jansson libdw zlib libzstd libprotobuf-c libxxhash sqlite3)
pkg_check_modules(CNNVP_WHOLE REQUIRED IMPORTED_TARGET ${CNNVP_PC_REQUIRES})
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/lib/libcnnvp.map CONTENT
  "CNNVP_${CNNVP_SOVERSION} { global: cnnvp_*; sc_main; _Z7sc_mainiPPc; local: *; };
CNNVP_PRIVATE_${PROJECT_VERSION} { global: _ZN5cnnvp8platform6design*; _ZNK5cnnvp8platform6design*; };\n")
add_library(cnnvp_shared SHARED ${whole_object})
set_target_properties(cnnvp_shared PROPERTIES OUTPUT_NAME cnnvp LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
  VERSION ${CNNVP_LIBRARY_VERSION} SOVERSION ${CNNVP_SOVERSION} LINKER_LANGUAGE CXX INSTALL_RPATH_USE_LINK_PATH ON
  LINK_DEPENDS ${PROJECT_BINARY_DIR}/lib/libcnnvp.map)
target_link_options(cnnvp_shared PRIVATE LINKER:--version-script=${PROJECT_BINARY_DIR}/lib/libcnnvp.map
                    LINKER:-Bsymbolic-functions LINKER:-z,defs)
target_link_libraries(cnnvp_shared PRIVATE SystemC::systemc PkgConfig::CNNVP_WHOLE ${CMAKE_DL_LIBS})
# The classes of cnnvp_systemc.h alone; the first one's private symbols are for this one.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/lib/libcnnvp_systemc.map CONTENT
  "CNNVP_${CNNVP_SOVERSION} { global: _ZN5cnnvp8platform[CD]*; _ZN5cnnvp8platform[0-9]*; _ZNK5cnnvp8platform[0-9]*;
_ZN5cnnvp11accelerator*; _ZNK5cnnvp11accelerator*; _ZN5cnnvp12platform_new*; _ZT*N5cnnvp8platformE; _ZT*N5cnnvp11acceleratorE; local: *; };\n")
add_library(cnnvp_systemc SHARED ${PROJECT_SOURCE_DIR}/platform/systemc.cpp ${PROJECT_SOURCE_DIR}/platform/accelerator.cpp)
target_include_directories(cnnvp_systemc PRIVATE $<TARGET_PROPERTY:cnnvp,INCLUDE_DIRECTORIES>)
target_compile_definitions(cnnvp_systemc PRIVATE SC_INCLUDE_DYNAMIC_PROCESSES)
set_target_properties(cnnvp_systemc PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
  VERSION ${CNNVP_LIBRARY_VERSION} SOVERSION ${CNNVP_SOVERSION} INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON
  LINK_DEPENDS ${PROJECT_BINARY_DIR}/lib/libcnnvp_systemc.map)
target_link_options(cnnvp_systemc PRIVATE LINKER:--version-script=${PROJECT_BINARY_DIR}/lib/libcnnvp_systemc.map LINKER:-z,defs)
target_link_libraries(cnnvp_systemc PRIVATE cnnvp_options cnnvp_shared SystemC::systemc)
install(TARGETS cnnvp_shared cnnvp_systemc LIBRARY)
if(CNNVP_SANITIZE OR CNNVP_FUZZ) # what sanitizers add is in programs alone
  set_target_properties(cnnvp_shared cnnvp_systemc PROPERTIES EXCLUDE_FROM_ALL ON)
  add_custom_target(cnnvp_whole_library DEPENDS ${whole_library})
else()
  add_custom_target(cnnvp_whole_library ALL DEPENDS ${whole_library})
endif()
add_dependencies(cnnvp_whole_library cnnvp_shared cnnvp_systemc)
set(to_install $<TARGET_FILE:cnnvp_program> $<TARGET_FILE:cnnvp_fx16> $<TARGET_FILE:cnnvp_bfp>
    ${PROJECT_BINARY_DIR}/include/cnnvp_isa.h
    ${PROJECT_BINARY_DIR}/share/cnnvp/cnnvp_guest.elf ${PROJECT_BINARY_DIR}/share/cnnvp/guest/libcnnvp_guest.a ${whole_library}
    $<TARGET_FILE:cnnvp_shared> $<TARGET_FILE:cnnvp_systemc>)
install(FILES ${whole_library} DESTINATION ${CMAKE_INSTALL_LIBDIR})

# Arithmetic that units share, for units outside of the tree.
install(TARGETS cnnvp_fx16 cnnvp_bfp ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# ---- Python ----

# Where Debian's python3 looks if the prefix is /usr; of other prefixes it is told so (PYTHONPATH).
file(GLOB python_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/c_api/python/cnnvp/*.py)
install(FILES ${python_files} DESTINATION lib/python3/dist-packages/cnnvp)

# ---- pkg-config and CMake packages ----

list(JOIN CNNVP_PC_REQUIRES " " CNNVP_PC_REQUIRES)
file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
foreach(package cnnvp cnnvp-systemc cnnvp-static cnnvp-model)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${package}.pc.in ${PROJECT_BINARY_DIR}/cmake/${package}.pc.in @ONLY)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/cmake/${package}.pc INPUT ${PROJECT_BINARY_DIR}/cmake/${package}.pc.in)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cnnvp)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/cnnvpConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/cnnvpConfig.cmake
                              INSTALL_DESTINATION ${package_folder} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/cnnvpConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/cnnvpConfig.cmake ${PROJECT_BINARY_DIR}/cmake/cnnvpConfigVersion.cmake
        DESTINATION ${package_folder})

# ---- manual pages ----

find_program(CNNVP_HELP2MAN help2man)
if(NOT CNNVP_HELP2MAN)
  message(STATUS "No manual pages: help2man was not found. On Debian or Ubuntu: apt-get install help2man")
elseif(NOT CNNVP_RUNS_TARGET)
  message(STATUS "No manual pages: help2man runs the program, which this machine cannot do. "
                 "Set CMAKE_CROSSCOMPILING_EMULATOR, such as to qemu-aarch64;-L;/usr/aarch64-linux-gnu")
elseif(NOT CNNVP_SANITIZE)
  set(program $<TARGET_FILE:cnnvp_program>)
  if(CMAKE_CROSSCOMPILING)
    set(program ${PROJECT_BINARY_DIR}/man/emulated/cnnvp)
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR "' '" emulator)
    file(GENERATE OUTPUT ${program} CONTENT "#!/bin/sh\nexec '${emulator}' '$<TARGET_FILE:cnnvp_program>' \"$@\"\n"
         FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
  # Dated as the sources are: as the packager says, by their commit, or as an archive has them.
  set(date $ENV{SOURCE_DATE_EPOCH})
  if(NOT date)
    execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} log -1 --format=%ct OUTPUT_VARIABLE date ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  if(NOT date)
    file(TIMESTAMP ${PROJECT_SOURCE_DIR}/CMakeLists.txt date "%s" UTC)
  endif()
  set(pages)
  foreach(command "" run train exec models check compile memory asm disasm sweep diff report new-guest new-unit)
    set(page ${PROJECT_BINARY_DIR}/man/cnnvp.1)
    if(command)
      set(page ${PROJECT_BINARY_DIR}/man/cnnvp-${command}.1)
    endif()
    add_custom_command(
      OUTPUT ${page}
      COMMAND ${CMAKE_COMMAND} -E env SOURCE_DATE_EPOCH=${date} sh ${CMAKE_CURRENT_LIST_DIR}/manual.sh
              ${CNNVP_HELP2MAN} ${program} "${command}" ${PROJECT_VERSION} ${page}
      DEPENDS cnnvp_program ${CMAKE_CURRENT_LIST_DIR}/manual.sh
      VERBATIM)
    list(APPEND pages ${page})
  endforeach()
  add_custom_target(cnnvp_manual ALL DEPENDS ${pages})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  list(APPEND to_install ${pages})
endif()

install(FILES ${PROJECT_SOURCE_DIR}/scripts/completion/cnnvp DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)

# ---- pages and examples ----

# Pages lie as in the tree, so that they lead to each other, with the pictures that they show.
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(GLOB_RECURSE documents CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  c_api/*.md models/*.md platform/*.md scripts/*.md scripts/studies/*.svg sw/*.md sw/*.png tests/*.md)
foreach(document ${documents})
  get_filename_component(folder ${document} DIRECTORY)
  install(FILES ${document} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scripts/examples ${PROJECT_SOURCE_DIR}/scripts/networks
        DESTINATION ${CMAKE_INSTALL_DATADIR}/cnnvp PATTERN "*.elf" EXCLUDE PATTERN "platform.h" EXCLUDE)

# ---- what has to be built for it ----

add_custom_target(cnnvp_installable)
add_dependencies(cnnvp_installable cnnvp_program cnnvp_guest cnnvp_whole_library cnnvp_fx16 cnnvp_bfp cnnvp_isa)
if(TARGET cnnvp_manual)
  add_dependencies(cnnvp_installable cnnvp_manual)
endif()
list(JOIN to_install "\" \"" to_install)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/cmake/check_built.cmake CONTENT "foreach(file \"${to_install}\")
  if(NOT EXISTS \"\${file}\")
    message(FATAL_ERROR \"\${file} is not built. Nothing was installed. First: \"
            \"cmake --build \\\"${PROJECT_BINARY_DIR}\\\" --target cnnvp_installable\")
  endif()
endforeach()
")
