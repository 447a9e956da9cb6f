# cmake -DCOMPILER=... -DFLAGS=... -DINCLUDES=dir;dir -DSOURCE=file -P expect_failure.cmake
# SOURCE must fail to compile, with a message that matches each `// expect: <regex>` line at its top, and no
# `// expect-not: <regex>`.
file(STRINGS "${SOURCE}" expectations REGEX "^// expect: ")
if(NOT expectations)
  message(FATAL_ERROR "${SOURCE}:1: has no line `// expect: <regex>`")
endif()

list(FILTER INCLUDES EXCLUDE REGEX "^$")
list(TRANSFORM INCLUDES PREPEND "-I")
execute_process(
  COMMAND "${COMPILER}" ${FLAGS} -fsyntax-only ${INCLUDES} "${SOURCE}"
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result
)
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE}:1: compiles, but should not")
endif()
foreach(expectation IN LISTS expectations)
  string(REGEX REPLACE "^// expect: " "" regex "${expectation}")
  if(NOT output MATCHES "${regex}")
    message("${output}")
    message(FATAL_ERROR "${SOURCE}:1: the compiler's message, above, does not match `${regex}`")
  endif()
endforeach()

file(STRINGS "${SOURCE}" exclusions REGEX "^// expect-not: ")
foreach(exclusion IN LISTS exclusions)
  string(REGEX REPLACE "^// expect-not: " "" regex "${exclusion}")
  if(output MATCHES "${regex}")
    message("${output}")
    message(FATAL_ERROR "${SOURCE}:1: the compiler's message, above, matches `${regex}`, which should not be there")
  endif()
endforeach()
