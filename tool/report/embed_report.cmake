# cmake -DFOLDER=<tool/report> -DOUTPUT=<file.cpp> -P embed_report.cmake
#
# Writes what tool/report/report_assets.hpp declares: the files of the folder as literals, the scripts as one, and the
# SHA-256 of the style and of the script in base64, by which the report's policy allows them.
cmake_minimum_required(VERSION 3.24)

# to_base64(<variable> <hex digits>): RFC 4648, section 4, with padding. Of one or two bytes at the end, too.
function(to_base64 variable hex)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(LENGTH "${hex}" length)
  math(EXPR rest "${length} % 6")
  set(padding "")
  if(rest EQUAL 4)
    set(padding "=")
    string(APPEND hex "00")
  elseif(rest EQUAL 2)
    set(padding "==")
    string(APPEND hex "0000")
  endif()
  set(text "")
  string(REGEX MATCHALL "......" triples "${hex}")
  foreach(triple IN LISTS triples)
    foreach(shift IN ITEMS 18 12 6 0)
      math(EXPR digit "(0x${triple} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${digit} 1 letter)
      string(APPEND text "${letter}")
    endforeach()
  endforeach()
  string(LENGTH "${text}" length)
  string(LENGTH "${padding}" padded)
  math(EXPR length "${length} - ${padded}")
  string(SUBSTRING "${text}" 0 ${length} text)
  set(${variable} "${text}${padding}" PARENT_SCOPE)
endfunction()

# literal(<variable> <name> <content>)
function(literal variable name content)
  set(${variable} "const std::string_view ${name} = R\"report(${content})report\";\n" PARENT_SCOPE)
endfunction()

# hash_of(<variable> <name> <content>)
function(hash_of variable name content)
  string(SHA256 hex "${content}")
  to_base64(text "${hex}")
  set(${variable} "const std::string_view ${name} = \"${text}\";\n" PARENT_SCOPE)
endfunction()

file(READ "${FOLDER}/report.html" page)
file(READ "${FOLDER}/report.css" css)
set(js "'use strict';\n{\n")
foreach(name IN ITEMS draw diff session report)
  file(READ "${FOLDER}/${name}.js" part)
  string(APPEND js "${part}")
endforeach()
string(APPEND js "}\n")

literal(template report_template "${page}")
literal(style report_style "${css}")
literal(script report_script "${js}")
hash_of(style_hash report_style_sha256 "${css}")
hash_of(script_hash report_script_sha256 "${js}")
file(WRITE "${OUTPUT}" "#include \"report_assets.hpp\"\n\nnamespace whittle::cli {\n\n"
                       "${template}${style}${style_hash}${script}${script_hash}\n}  // namespace whittle::cli\n"
)
