# SPDX-License-Identifier: Apache-2.0
# The configuration alone, against a registry of made-up units (fake_registry.c), without SystemC.
add_executable(test_config test_config.c test_config_errors.c test_config_value.c fake_registry.c)
target_link_libraries(test_config PRIVATE cnnvp_alone cnnvp_options cmocka)
add_test(NAME platform/config COMMAND test_config)
