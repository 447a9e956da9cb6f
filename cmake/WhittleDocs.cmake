# The README's program is compiled from the README, and run.

set(readme "${PROJECT_SOURCE_DIR}/README.md")
set(readme_marker "<!-- example: readme -->")
set(readme_has_example FALSE)
if(EXISTS "${readme}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${readme}")
  file(READ "${readme}" readme_text)
  string(FIND "${readme_text}" "${readme_marker}" readme_marker_at)
  if(NOT readme_marker_at EQUAL -1)
    set(readme_has_example TRUE)
  endif()
endif()

if(readme_has_example)
  set(readme_program "${PROJECT_BINARY_DIR}/readme_example.cpp")
  set(readme_expected "${PROJECT_BINARY_DIR}/readme_example.expected")
  add_custom_command(
    OUTPUT "${readme_program}" "${readme_expected}"
    COMMAND "${CMAKE_COMMAND}" "-DREADME=${readme}" "-DMARKER=${readme_marker}" "-DPROGRAM=${readme_program}"
            "-DEXPECTED=${readme_expected}" -P "${PROJECT_SOURCE_DIR}/cmake/extract_readme.cmake"
    DEPENDS "${readme}" "${PROJECT_SOURCE_DIR}/cmake/extract_readme.cmake"
    COMMENT "Cutting the example out of README.md"
    VERBATIM
  )
  whittle_add_executable(readme_example SOURCES "${readme_program}")
  whittle_add_script_test(
    docs.readme "${PROJECT_SOURCE_DIR}/cmake/run_expected.cmake"
    "PROGRAM=$<TARGET_FILE:readme_example>" "EXPECTED=${readme_expected}"
  )
  set_tests_properties(docs.readme PROPERTIES LABELS docs)
endif()
