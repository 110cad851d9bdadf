# SPDX-License-Identifier: Apache-2.0
# The configuration alone, against a registry of made-up units (fake_registry.c), without SystemC.
file(GLOB config_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/platform/config*.c)
add_executable(test_config test_config.c test_config_errors.c test_config_value.c fake_registry.c ${config_sources}
  ${PROJECT_SOURCE_DIR}/platform/energy.c)
target_include_directories(test_config PRIVATE ${PROJECT_SOURCE_DIR}/platform)
target_link_libraries(test_config PRIVATE cnnvp_base cnnvp_options cmocka m)
add_test(NAME platform/config COMMAND test_config)
