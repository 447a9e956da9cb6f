# The suites of the tool, for tests/CMakeLists.txt.
if(NOT TARGET whittle_replay)
  return()
endif()
set(tool_tests "${PROJECT_SOURCE_DIR}/tool/tests")

whittle_add_suite(replay "${tool_tests}/replay" SOAKS LINK whittle_replay APART words_lever.cpp words_recorded.cpp)
whittle_add_suite(evaluation "${tool_tests}/evaluation" SOAKS LINK whittle_evaluation)

# The readers once more, of which each stretch of code without branches is counted: linear_work.cpp. Sanitizers have
# callbacks of the same name.
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  file(GLOB counted_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tool/logs/*.cpp")
  add_library(whittle_logs_counted STATIC EXCLUDE_FROM_ALL ${counted_sources})
  set_target_properties(whittle_logs_counted PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(whittle_logs_counted PUBLIC "${PROJECT_SOURCE_DIR}/tool")
  target_compile_options(whittle_logs_counted PRIVATE -fsanitize-coverage=trace-pc)
  target_compile_definitions(whittle_logs_counted INTERFACE WHITTLE_COUNTED_READERS)
  target_link_libraries(whittle_logs_counted PUBLIC whittle::json PRIVATE fmt::fmt)
  whittle_compile_by_folder(whittle_logs_counted)
  whittle_add_suite(logs "${tool_tests}/logs" SOAKS LINK whittle_logs_counted)
else()
  whittle_add_suite(logs "${tool_tests}/logs" SOAKS LINK whittle_logs)
endif()

if(only_threads)
  return()
endif()
if(TARGET whittle_agent_parts)
  whittle_add_suite(agent "${tool_tests}/agent" LINK whittle_agent_parts APART screen.cpp tools.cpp)
endif()
add_subdirectory("${tool_tests}/generated_logs" generated_logs)
if(NOT TARGET whittle_cli)
  return()
endif()
include("${tool_tests}/smoke/smoke.cmake")
if(WIN32) # the suite `commands` starts programs by calls of POSIX
  return()
endif()

set(kill_at_step)
# A sanitizer's own library has to be the first one of a program.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  add_library(whittle_kill_at_step MODULE "${PROJECT_SOURCE_DIR}/tests/support/kill_at_step.cpp")
  target_link_libraries(whittle_kill_at_step PRIVATE ${CMAKE_DL_LIBS})
  target_compile_features(whittle_kill_at_step PRIVATE cxx_std_20)
  whittle_set_compile_options(whittle_kill_at_step)
  set(kill_at_step "$<TARGET_FILE:whittle_kill_at_step>")
endif()
whittle_add_suite(commands "${tool_tests}/commands" SOAKS LINK whittle_tool)
target_compile_definitions(
  whittle_tests_commands PRIVATE WHITTLE_CLI="$<TARGET_FILE:whittle_cli>" WHITTLE_KILL_AT_STEP="${kill_at_step}"
)
add_dependencies(whittle_tests_commands whittle_cli)
if(kill_at_step)
  add_dependencies(whittle_tests_commands whittle_kill_at_step)
endif()
# The shell lines that the pages of tool/docs begin with.
file(GLOB shell_examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tool/examples/*.sh")
foreach(script IN LISTS shell_examples)
  cmake_path(GET script STEM name)
  whittle_add_script_test(
    example.tool_${name} "${PROJECT_SOURCE_DIR}/cmake/run_expected.cmake"
    "PROGRAM=${script}" "EXPECTED=${PROJECT_SOURCE_DIR}/tool/examples/${name}.expected"
  )
  set_tests_properties(
    example.tool_${name} PROPERTIES LABELS example
    ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:$<TARGET_FILE_DIR:whittle_cli>"
  )
endforeach()
if(WHITTLE_BUILD_EXTRA_TESTS)
  add_subdirectory("${tool_tests}/conformance_kit" conformance_kit)
endif()
