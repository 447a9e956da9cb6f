# cmake -DROOT=<repository> -DSCRATCH=<file> -P test_check_compared.cmake
#
# check_compared.cmake accepts a small table, and refuses it with each fault that is planted here.

cmake_minimum_required(VERSION 3.24)
set(test "[base/text.cpp](../tests/base/text.cpp) \"a prefix never ends inside a character\"")
set(table "whittle: 1 Y, 1 P, 1 N.\n\n| 1. cuts | Y<br>${test} | - |\n| 2. plans | P: no dry run | - |\n| 3. flies | N | - |\n")

function(check text expected)
  file(WRITE "${SCRATCH}" "${text}")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${ROOT}" "-DTABLE=${SCRATCH}" -P "${CMAKE_CURRENT_LIST_DIR}/check_compared.cmake"
    ERROR_VARIABLE output RESULT_VARIABLE result
  )
  if(expected STREQUAL "")
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "a table without faults is refused:\n${output}")
    endif()
    return()
  endif()
  string(FIND "${output}" "${expected}" at)
  if(result EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "not reported: ${expected}\n${output}")
  endif()
endfunction()

function(plant old new expected)
  string(REPLACE "${old}" "${new}" faulty "${table}")
  check("${faulty}" "${expected}")
endfunction()

check("${table}" "")
plant("tests/base/text.cpp)" "tests/base/texts.cpp)" "tests/base/texts.cpp: no such file")
plant("never ends inside" "never ends in" "has no test \"a prefix never ends in a character\"")
plant("\"a prefix never ends inside a character\"" "" "no name of a test")
plant("| N |" "| Y: ${test} |" "counts are not given")
plant("| N |" "| Y |" "row 3: a Y without a link")
plant("| N |" "| no |" "row 3: whittle's verdict is none of")
plant("| 2. plans" "| 4. plans" "3 rows have a number, 1 of them in order")
