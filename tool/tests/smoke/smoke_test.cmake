# Runs WHITTLE (a list) on SESSION in FOLDER, which is made anew.
cmake_minimum_required(VERSION 3.24)

# run(<expected exit code> <regular expression of what it prints> <arguments>)
function(run code expected)
  execute_process(
    COMMAND ${WHITTLE} ${ARGN} WORKING_DIRECTORY "${FOLDER}"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors ENCODING UTF-8
  )
  if(NOT result EQUAL code OR NOT "${output}${errors}" MATCHES "${expected}")
    message(FATAL_ERROR "whittle ${ARGN}: ended with ${result}, expected ${code} and \"${expected}\":\n${output}\n${errors}")
  endif()
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
set(session "größe-文.jsonl")
configure_file("${SESSION}" "${FOLDER}/${session}" COPYONLY)
file(WRITE "${FOLDER}/chain.json" [[{"preset": "recommended", "storage": {"type": "file", "root": "lager-ß"}}]])

run(0 "^whittle 0\\.1\\.0" --version)
run(0 "total of 1" replay "${session}" --preset recommended --no-color)
run(0 "" replay "${session}" --config chain.json --requests "anfragen-ü.jsonl.gz")
run(0 "" replay "${session}" --config chain.json --requests "anfragen-ü.jsonl")
if(NOT EXISTS "${FOLDER}/anfragen-ü.jsonl" OR NOT EXISTS "${FOLDER}/lager-ß")
  message(FATAL_ERROR "the requests or the store are not there under their names")
endif()
# Again, over the file that is there.
run(0 "" replay "${session}" --config chain.json --requests "anfragen-ü.jsonl")
# Elsewhere the standard library's paths take UTF-8 by the program's manifest, which wine does not read.
configure_file("${SESSION}" "${FOLDER}/session.jsonl" COPYONLY)
run(0 "" scan session.jsonl --html report.html)
run(0 "" check "${session}")
run(1 "no such file|No such file" replay "fehlt-ü.jsonl" --preset recommended)
run(1 "irectory" replay "lager-ß" --preset recommended)
run(2 "" replay)
file(GLOB left "${FOLDER}/.*.tmp")
if(left)
  message(FATAL_ERROR "temporary files were left: ${left}")
endif()
