# SPDX-License-Identifier: Apache-2.0
# The recorder alone, fed by hand on a made-up platform (machine.c), without SystemC.
add_library(cnnvp_test_machine STATIC machine.c)
target_include_directories(cnnvp_test_machine PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(cnnvp_test_machine PUBLIC cnnvp_alone cnnvp_options PkgConfig::JANSSON)
if(TARGET cnnvp_fst)
  get_target_property(fst_folder cnnvp_fst INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(cnnvp_test_machine SYSTEM PUBLIC ${fst_folder})
  target_link_libraries(cnnvp_test_machine PUBLIC PkgConfig::CNNVP_ZLIB)
  set(fst_subject trace_fst)
endif()

# Strict readers of both formats; other tests may link them.
add_library(cnnvp_trace_check STATIC vcd_check.c perfetto_check.c read_file.c)
target_include_directories(cnnvp_trace_check PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(cnnvp_trace_check PRIVATE cnnvp_options)
add_executable(vcd_check vcd_check_main.c)
target_link_libraries(vcd_check PRIVATE cnnvp_options cnnvp_trace_check)

foreach(subject over_time latest stats trace ${fst_subject} trace_link trace_errors trace_check)
  add_executable(test_recorder_${subject} test_${subject}.c)
  target_link_libraries(test_recorder_${subject} PRIVATE cnnvp_test_machine cnnvp_trace_check cmocka)
  if(subject MATCHES "^trace(_errors|_fst|_link)?$")
    target_sources(test_recorder_${subject} PRIVATE trace_support.c)
  endif()
  add_test(NAME platform/${subject} COMMAND test_recorder_${subject})
endforeach()

# Prints times of recording and conversion; run by hand.
add_executable(bench_recorder bench_recorder.c)
target_link_libraries(bench_recorder PRIVATE cnnvp_test_machine)

# protoc reads our traces.
find_program(PROTOC protoc)
if(PROTOC)
  add_test(NAME platform/protoc
    COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/decode_raw.sh $<TARGET_FILE:bench_recorder> ${PROTOC}
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  add_test(NAME platform/protoc_run
    COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/decode_run.sh $<TARGET_FILE:cnnvp_program> ${PROTOC}
            ${PROJECT_SOURCE_DIR}/scripts/networks/lenet5.onnx ${PROJECT_BINARY_DIR}/share/cnnvp/cnnvp_guest.elf)
endif()
