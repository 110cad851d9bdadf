# SPDX-License-Identifier: Apache-2.0
# What an installation holds beside the program, the guest program and the presets (those are installed where they are
# made): headers, the platform as one static library, pkg-config and CMake package files, manual pages, completion for bash.
# Nothing holds an absolute path: the prefix can be moved.
include(CMakePackageConfigHelpers)

file(GLOB api_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/c_api/*.h)
install(FILES ${api_headers} ${PROJECT_SOURCE_DIR}/platform/include/cnnvp_systemc.h ${PROJECT_BINARY_DIR}/include/cnnvp_isa.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cnnvp)

# ---- libcnnvp.a: the platform, its units and the software around it, in one archive ----

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

foreach(library cnnvp_explore cnnvp_run cnnvp_data cnnvp_compiler cnnvp_asm cnnvp_memory cnnvp)
  cnnvp_collect_archives(${library})
endforeach()
get_property(archives GLOBAL PROPERTY CNNVP_ARCHIVES)
set(whole_library ${PROJECT_BINARY_DIR}/lib/libcnnvp.a)
set(archive_script "CREATE ${whole_library}\n")
foreach(archive ${archives})
  string(APPEND archive_script "ADDLIB $<TARGET_FILE:${archive}>\n")
endforeach()
string(APPEND archive_script "SAVE\nEND\n")
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/lib/libcnnvp.mri CONTENT "${archive_script}")
add_custom_command(
  OUTPUT ${whole_library}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${whole_library}
  COMMAND sh -c "'${CMAKE_AR}' -M < '${PROJECT_BINARY_DIR}/lib/libcnnvp.mri'"
  DEPENDS ${archives} ${PROJECT_BINARY_DIR}/lib/libcnnvp.mri
  COMMENT "libcnnvp.a with all units"
  VERBATIM)
add_custom_target(cnnvp_whole_library ALL DEPENDS ${whole_library})
set(to_install $<TARGET_FILE:cnnvp_program> $<TARGET_FILE:cnnvp_fx16> $<TARGET_FILE:cnnvp_bfp>
    ${PROJECT_BINARY_DIR}/include/cnnvp_isa.h
    ${PROJECT_BINARY_DIR}/share/cnnvp/cnnvp_guest.elf ${PROJECT_BINARY_DIR}/share/cnnvp/guest/libcnnvp_guest.a ${whole_library})
install(FILES ${whole_library} DESTINATION ${CMAKE_INSTALL_LIBDIR})

# Arithmetic that units share, for units outside of the tree.
install(TARGETS cnnvp_fx16 cnnvp_bfp ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# ---- pkg-config and CMake packages ----

# What the archive's objects need of others.
set(CNNVP_PC_REQUIRES "libfyaml jansson libdw zlib libzstd libprotobuf-c libxxhash sqlite3")
file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/cnnvp.pc.in ${PROJECT_BINARY_DIR}/cmake/cnnvp.pc.in @ONLY)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/cmake/cnnvp.pc INPUT ${PROJECT_BINARY_DIR}/cmake/cnnvp.pc.in)
configure_file(${CMAKE_CURRENT_LIST_DIR}/cnnvp-model.pc.in ${PROJECT_BINARY_DIR}/cmake/cnnvp-model.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/cnnvp.pc ${PROJECT_BINARY_DIR}/cmake/cnnvp-model.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

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
  foreach(command "" run train exec models check memory asm disasm sweep diff report new-guest new-unit)
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
