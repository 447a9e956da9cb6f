# cmake -DOUT=<file> -P make_single_header.cmake
#
# Writes OUT, one header that is all of whittle::whittle: its public headers, and behind `#ifdef WHITTLE_IMPLEMENTATION`
# its sources with the headers that only they include. Each file stands where it is included first; standard and
# third-party headers are included at the top of each part. The same tree gives the same bytes.
#
# It reads includes as the repository writes them: `#include` at the start of a line is unconditional; one in an `#if` is
# indented (`#    include`, clang-format) and stays where it is.
cmake_minimum_required(VERSION 3.24)

if(NOT OUT)
  message(FATAL_ERROR "cmake -DOUT=<file> -P make_single_header.cmake")
endif()
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH PROJECT_SOURCE_DIR)
include("${CMAKE_CURRENT_LIST_DIR}/WhittleFiles.cmake")

# What has been written of the current part, and its system headers. The second part needs none of the first.
function(write text)
  set_property(GLOBAL APPEND_STRING PROPERTY "text of ${part}" "${text}")
endfunction()

function(take_file path)
  get_property(taken GLOBAL PROPERTY "taken ${path}")
  set(is_taken "${taken}" PARENT_SCOPE)
  set_property(GLOBAL PROPERTY "taken ${path}" TRUE)
endfunction()

function(take_system_header name)
  take_file("<${name}>")
  if(NOT is_taken)
    set_property(GLOBAL APPEND PROPERTY "headers of ${part}" "${name}")
  endif()
endfunction()

# The file that `"name"` means in the file at `path`.
function(resolve path name result)
  cmake_path(GET path PARENT_PATH folder)
  cmake_path(APPEND folder "${name}" OUTPUT_VARIABLE beside)
  cmake_path(NORMAL_PATH beside)
  foreach(candidate "${beside}" "include/${name}")
    if(EXISTS "${PROJECT_SOURCE_DIR}/${candidate}")
      set(${result} "${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "${path} includes \"${name}\", which is neither beside it nor in include/")
endfunction()

# Writes the file at `path` behind all that it includes before its first line of code. A header with `#pragma once` is
# written once, others wherever they are included.
function(write_file path)
  file(READ "${PROJECT_SOURCE_DIR}/${path}" rest)
  string(PREPEND rest "\n")
  if(rest MATCHES "\n#pragma once\n")
    take_file("${path}")
    if(is_taken)
      return()
    endif()
    string(REPLACE "\n#pragma once\n" "\n" rest "${rest}")
  endif()
  if(rest MATCHES "\n#[ ]+include \"")
    message(FATAL_ERROR "${path} includes one of our own files in an #if, which make_single_header.cmake does not follow")
  endif()

  set(own "\n// ---- ${path}")
  string(REGEX MATCHALL "\n#include [<\"][^\n>\"]+[>\"][^\n]*" includes "${rest}")
  foreach(line IN LISTS includes)
    string(FIND "${rest}" "${line}" at)
    string(SUBSTRING "${rest}" 0 ${at} before)
    string(LENGTH "${line}" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${rest}" ${at} -1 rest)
    if(before MATCHES "[^\n]")
      string(APPEND own "${before}")
    endif()

    string(REGEX REPLACE "\n//[^\n]*" "" code "${own}")
    if(code MATCHES "[^\n]")
      write("${own}")
      set(own "")
    endif()
    string(REGEX MATCH "([<\"])([^>\"]+)" matched "${line}")
    if(CMAKE_MATCH_1 STREQUAL "<")
      take_system_header("${CMAKE_MATCH_2}")
    else()
      resolve("${path}" "${CMAKE_MATCH_2}" target)
      write_file("${target}")
    endif()
  endforeach()
  string(REGEX REPLACE "^\n+" "\n\n" rest "${rest}")
  write("${own}${rest}")
endfunction()

# The part that has been written, with its system headers in front.
function(finish_part result)
  get_property(headers GLOBAL PROPERTY "headers of ${part}")
  list(SORT headers)
  list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n")
  list(JOIN headers "" headers)
  get_property(text GLOBAL PROPERTY "text of ${part}")
  set(${result} "${headers}${text}" PARENT_SCOPE)
endfunction()

# `#undef` for each macro that `text` defines, but those of the version, which are for users.
function(undefine_macros text result)
  string(REGEX MATCHALL "\n#[ ]*define [A-Za-z0-9_]+" macros "${text}")
  list(TRANSFORM macros REPLACE ".* " "")
  list(REMOVE_DUPLICATES macros)
  list(FILTER macros EXCLUDE REGEX "^WHITTLE_VERSION")
  list(TRANSFORM macros REPLACE "(.+)" "#undef \\1\n")
  list(JOIN macros "" macros)
  set(${result} "${macros}" PARENT_SCOPE)
endfunction()

set(part declarations)
foreach(path include/whittle/whittle.hpp ${whittle_headers})
  write_file("${path}")
endforeach()
finish_part(declarations)
undefine_macros("${declarations}" declarations_end)

set(part implementation)
foreach(path IN LISTS whittle_sources)
  write_file("${path}")
endforeach()
finish_part(implementation)
undefine_macros("${implementation}" implementation_end)

string(REGEX MATCH "WHITTLE_VERSION_STRING \"([^\"]+)\"" matched "${declarations}")
set(version "${CMAKE_MATCH_1}")

file(WRITE "${OUT}" "\
// whittle ${version}, the single header: all of the CMake target whittle::whittle in one file.
// SPDX-License-Identifier: Apache-2.0 (the text: LICENSE in whittle's repository, http://www.apache.org/licenses/LICENSE-2.0)
// The tables of characters are made from Unicode 16.0, (c) 1991-2024 Unicode, Inc., Unicode-3.0: NOTICE has its terms.
//
// Include it wherever whittle is used. One .cpp file of the program compiles the library with it:
//
//   #define WHITTLE_IMPLEMENTATION
//   #include \"whittle.hpp\"
//
// It needs C++20 (g++ 12, clang 14 or newer), and that one file needs the headers of fmt 9 and nlohmann_json 3.11, or
// newer. Link fmt, or compile that file with FMT_HEADER_ONLY; and link the threads (-pthread). A program that uses it
// uses no other header of whittle and links none of its libraries.
//
// Made from include/ and src/ of whittle by scripts/make_single_header: change those.

// clang-format off

#if defined(WHITTLE_IMPLEMENTATION) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"  // what g++ 12 falsely says of large files, optimised
#pragma GCC diagnostic ignored \"-Wrestrict\"
#pragma GCC diagnostic ignored \"-Wstringop-overflow\"
#endif

#ifndef WHITTLE_SINGLE_HEADER
#define WHITTLE_SINGLE_HEADER

#ifdef WHITTLE_VERSION_STRING
#error \"a file includes the single header of whittle after another header of whittle: use either\"
#endif

${declarations}
${declarations_end}
#endif  // WHITTLE_SINGLE_HEADER

#if defined(WHITTLE_IMPLEMENTATION) && !defined(WHITTLE_IMPLEMENTED)
#define WHITTLE_IMPLEMENTED

${implementation}
${implementation_end}
#endif  // WHITTLE_IMPLEMENTATION

#if defined(WHITTLE_IMPLEMENTATION) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
")
