# cmake -DREADME=... -DMARKER=... -DPROGRAM=... -DEXPECTED=... -P extract_readme.cmake
# Writes the first ```cpp block after MARKER to PROGRAM and the first ```text block after that to EXPECTED.

# Cuts the first block that opens with `fence` out of `rest`; `rest` then starts behind it.
function(cut_block fence result)
  string(FIND "${rest}" "\n${fence}\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "${README}: no ${fence} block after ${MARKER}")
  endif()
  string(LENGTH "\n${fence}\n" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${rest}" ${begin} -1 rest)
  string(FIND "\n${rest}" "\n```" end)
  if(end EQUAL -1)
    message(FATAL_ERROR "${README}: a ${fence} block does not end")
  endif()
  string(SUBSTRING "${rest}" 0 ${end} block)
  string(SUBSTRING "${rest}" ${end} -1 rest)
  set(${result} "${block}" PARENT_SCOPE)
  set(rest "${rest}" PARENT_SCOPE)
endfunction()

file(READ "${README}" rest)
string(FIND "${rest}" "${MARKER}" at)
string(SUBSTRING "${rest}" ${at} -1 rest)
cut_block("```cpp" program)
cut_block("```text" expected)
file(WRITE "${PROGRAM}" "${program}")
file(WRITE "${EXPECTED}" "${expected}")
