# A session and a store whose names are no ASCII, what is written, read again, refused. A script, since the program may be
# another system's.
set(script "${CMAKE_CURRENT_LIST_DIR}/smoke_test.cmake")
set(command ${CMAKE_CROSSCOMPILING_EMULATOR} "$<TARGET_FILE:whittle_cli>")
add_test(
  NAME tool.smoke
  COMMAND "${CMAKE_COMMAND}" "-DWHITTLE=${command}" "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/smoke"
          "-DSESSION=${PROJECT_SOURCE_DIR}/tool/tests/logs/fixtures/codex.jsonl" -P "${script}"
)
set_tests_properties(tool.smoke PROPERTIES LABELS smoke TIMEOUT 300)
