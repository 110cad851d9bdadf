# SPDX-License-Identifier: Apache-2.0
# cnnvp_folder_tests(TARGET [TESTS FILE...] [SOURCES FILE...] [LIBRARIES LIBRARY...]): one executable of the tests of a
# folder, each of them a file with main(): test_*.c and test_*.cpp of the folder unless TESTS names them. It runs the one
# that its argument names. One link for all of them, and for each a test of CTest that is named as its source.
function(cnnvp_folder_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 folder "" "" "TESTS;SOURCES;LIBRARIES")
  if(NOT folder_TESTS)
    file(GLOB folder_TESTS CONFIGURE_DEPENDS test_*.c test_*.cpp)
  endif()
  set(language c)
  set(declarations "")
  set(calls "")
  foreach(file ${folder_TESTS})
    get_filename_component(file ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME_WE)
    string(REGEX REPLACE "^test_" "" name ${name})
    set(linkage "")
    if(file MATCHES "[.]cpp$")
      set(language cpp)
    else()
      set(linkage LINKAGE)
    endif()
    string(STRIP "${linkage} int main_of_${name}(void)" declaration)
    string(APPEND declarations "${declaration};\n")
    string(APPEND calls "    if (!strcmp(name, \"${name}\"))\n        return main_of_${name}();\n")
    set_source_files_properties(${file} PROPERTIES COMPILE_DEFINITIONS main=main_of_${name})
    file(RELATIVE_PATH test ${CMAKE_CURRENT_FUNCTION_LIST_DIR} ${file})
    get_filename_component(test ${test} DIRECTORY)
    add_test(NAME ${test}/${name} COMMAND ${target} ${name})
  endforeach()
  set(linkage "")
  if(language STREQUAL cpp)
    set(linkage "extern \"C\"")
  endif()
  set(main ${CMAKE_CURRENT_BINARY_DIR}/${target}.${language})
  file(CONFIGURE OUTPUT ${main} CONTENT
"#include <stdio.h>
#include <string.h>

#define LINKAGE ${linkage}
${declarations}
int main(int argc, char **argv)
{
    const char *name = argc == 2 ? argv[1] : \"\";

${calls}    fprintf(stderr, \"%s: no test is called '%s'\\n\", argv[0], name);
    return 2;
}
" @ONLY)
  add_executable(${target} ${folder_TESTS} ${folder_SOURCES} ${main})
  target_link_libraries(${target} PRIVATE ${folder_LIBRARIES} $<TARGET_NAME_IF_EXISTS:cnnvp_options> cmocka)
endfunction()
