# cmake -DCHECKER=<script> -DFIXTURES=<folder> -P test_checker.cmake
#
# The checker accepts the fixture tree `good`, and reports each planted offence of the tree `bad`, with its line, and no
# other. expected.txt lists how the reports begin.
execute_process(
  COMMAND "${CMAKE_COMMAND}" "-DROOT=${FIXTURES}/good" -P "${CHECKER}"
  ERROR_VARIABLE output RESULT_VARIABLE result
)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "offences found in a tree that has none:\n${output}")
endif()

execute_process(
  COMMAND "${CMAKE_COMMAND}" "-DROOT=${FIXTURES}/bad" -P "${CHECKER}"
  ERROR_VARIABLE output RESULT_VARIABLE result
)
if(result EQUAL 0)
  message(FATAL_ERROR "no offence found in a tree full of them:\n${output}")
endif()
file(STRINGS "${FIXTURES}/bad/expected.txt" expected)
foreach(beginning IN LISTS expected)
  string(FIND "${output}" "${beginning}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "not reported: ${beginning}\n${output}")
  endif()
endforeach()
list(LENGTH expected planted)
if(NOT output MATCHES "[^0-9]${planted} offences")
  message(FATAL_ERROR "${planted} offences are planted, but the checker says:\n${output}")
endif()
