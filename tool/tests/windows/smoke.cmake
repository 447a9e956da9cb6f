# What the program does on Windows: a session and a store whose names are no ASCII, what is written, read again, refused. A
# script, since the program is another system's.
set(script "${CMAKE_CURRENT_LIST_DIR}/smoke_test.cmake")
set(command whittle_cli)
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(command ${CMAKE_CROSSCOMPILING_EMULATOR} "$<TARGET_FILE:whittle_cli>")
else()
  set(command "$<TARGET_FILE:whittle_cli>")
endif()
add_test(
  NAME tool.windows
  COMMAND "${CMAKE_COMMAND}" "-DWHITTLE=${command}" "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/smoke"
          "-DSESSION=${PROJECT_SOURCE_DIR}/tool/tests/logs/fixtures/codex.jsonl" -P "${script}"
)
set_tests_properties(tool.windows PROPERTIES LABELS smoke TIMEOUT 300)
