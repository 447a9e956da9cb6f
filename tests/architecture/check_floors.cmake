# cmake -DROOT=<repository> -P check_floors.cmake
#
# The floors of the house: a file includes only its own folder and lower floors. Prints every offence as file:line and
# fails if there is one. The rules are data, below; docs/design.md has the reasons.

cmake_minimum_required(VERSION 3.24)
if(NOT DEFINED ROOT)
  get_filename_component(ROOT "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
endif()
get_filename_component(ROOT "${ROOT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")

# folder -> floor. Folders on the same floor never include each other.
set(floor_base 0)
set(floor_message 1)
set(floor_tokens 2)
set(floor_port 3)
set(floor_conversation 4)
set(floor_chain 5)
set(floor_digest 6)
set(floor_reduction 7)
set(floor_summarization 7)
set(floor_compaction 7)
set(floor_token_saving 7)
set(floor_preset 8)
set(floor_loop 8)
set(floor_replay 8)

# Which third-party headers may appear where; a path that matches the second is allowed.
set(guarded "nlohmann/" "spdlog/" "fmt/" "CLI/" "zlib\\.h" "zstd\\.h" "curl/" "sqlite3\\.h" "sodium\\.h" "hiredis/")
set(allowed_nlohmann/ "^((include/whittle|src)/(adapter|backend|evaluation|logs|durable|redaction|retention|servers)|apps|tests|examples|bench|fuzz)/|^src/(base/json|host/boundary)\\.cpp$")
set(allowed_spdlog/ "^(include/whittle/adapter/spdlog\\.hpp$|(apps|tests|examples|bench)/)")
set(allowed_fmt/ "^(src|apps|tests|examples|bench)/")
set(allowed_CLI/ "^apps/")
set(allowed_zlib\\.h "^(apps|tests)/")
set(allowed_zstd\\.h "^(apps|tests)/")
set(allowed_curl/ "^src/backend/curl_")
set(allowed_sqlite3\\.h "^((src/sqlite|tests/sqlite|bench)/|apps/whittle/read_database)")
set(allowed_hiredis/ "^(src/redis|tests/redis|bench)/")
set(allowed_sodium\\.h "^(src/sealing|bench)/")

# The library prints nothing, reads no environment, ends no process, and std::regex overflows the stack on long input.
set(words "(^|[^A-Za-z0-9_])(std::regex|std::cout|std::cerr|std::clog|[fv]*printf[(]|puts[(]|fmt::print|getenv[(]|std::abort[(])")
set(bare_abort "(^|[{}])[ \t]*(abort[(])")  # a member function called abort is no offence
set(max_lines 500)
set(max_adapter_lines 250)  # of a runtime: to be read and copied whole
set(max_public_headers 70)  # outside detail/: what users read

function(offend line text)
  message("${path}:${line}: ${text}")
  set_property(GLOBAL APPEND PROPERTY whittle_offences "${path}:${line}")
endfunction()

# The floors and extra folders that the file at `path` may include, in allowed_floor and allowed_folders.
macro(look_up_rules)
  set(allowed_folders "${folder}")
  set(allowed_floor -1)
  if(folder STREQUAL "")
    set(allowed_floor 8)  # whittle.hpp: all floors, no adapters, no backends
  elseif(folder STREQUAL "adapter")
    set(allowed_floor 5)
    if(name MATCHES "^config_json")
      set(allowed_floor 8)
    elseif(name MATCHES "^(replay_|trajectory)")
      list(APPEND allowed_folders replay)
    endif()
  elseif(folder STREQUAL "json")  # the library's templates over the adapters' messages
    set(allowed_floor 8)
    list(APPEND allowed_folders adapter)
  elseif(folder STREQUAL "evaluation")  # figures over recorded sessions, for programs
    set(allowed_floor 8)
    list(APPEND allowed_folders adapter)
  elseif(folder STREQUAL "logs")  # sessions as agents leave them, for programs
    set(allowed_floor 5)
    list(APPEND allowed_folders adapter backend)  # what puts a stream together
  elseif(folder STREQUAL "durable")  # conversations as logs, for hosts
    set(allowed_floor 8)
    list(APPEND allowed_folders adapter)
  elseif(folder STREQUAL "telemetry")  # what chains did, for programs that watch them
    set(allowed_floor 5)
    list(APPEND allowed_folders backend)  # the transport
  elseif(folder STREQUAL "servers")  # what servers of one's own say of themselves
    set(allowed_floor 5)
    list(APPEND allowed_folders adapter backend)
  elseif(folder STREQUAL "sealing")  # encrypted objects in any store
    set(allowed_floor 3)
  elseif(folder STREQUAL "redis")  # a store that many machines share
    set(allowed_floor 3)
  elseif(folder STREQUAL "redaction")  # what is masked in front of a store, or of the model
    set(allowed_floor 5)
  elseif(folder STREQUAL "retention")  # what of a store may go
    set(allowed_floor 4)
  elseif(folder STREQUAL "sqlite")  # a store in one file
    set(allowed_floor 3)
  elseif(folder STREQUAL "conformance")  # what every store promises, for tests of stores
    set(allowed_floor 3)
  elseif(folder STREQUAL "host")  # adapters of runtimes, and what proves them
    set(allowed_floor 8)
    list(APPEND allowed_folders adapter)
  elseif(folder STREQUAL "backend")
    set(allowed_floor 3)
    list(APPEND allowed_folders adapter)  # the models speak its messages
    if(name MATCHES "^prompt_logprobs")
      set(allowed_floor 7)  # what scores words
    endif()
  elseif(DEFINED floor_${folder})
    math(EXPR allowed_floor "${floor_${folder}} - 1")
  else()
    offend(1 "the folder `${folder}` has no floor: give it one in tests/architecture/check_floors.cmake")
    set(allowed_floor 8)
  endif()
  if(name MATCHES "^configured_")  # what a configuration asks of a library that whittle::json does not link
    list(APPEND allowed_folders adapter)
  endif()
endmacro()

function(check_own_include line target)
  if("${target}" MATCHES "^([^/]+)/")
    set(other "${CMAKE_MATCH_1}")
    if(other IN_LIST allowed_folders)
      return()
    endif()
    if(NOT DEFINED floor_${other})
      offend(${line} "${here} includes ${target}: nothing includes `${other}` but its own folder and programs")
    elseif(floor_${other} GREATER allowed_floor)
      offend(${line} "${here} includes ${target}: `${other}` is not on a lower floor")
    endif()
  elseif(NOT folder STREQUAL "")
    offend(${line} "${here} includes whittle/${target}: the umbrella is for users")
  endif()
endfunction()

function(check_include line target quoted)
  if("${target}" MATCHES "^whittle/(.+)$")
    if(has_floor)
      check_own_include(${line} "${CMAKE_MATCH_1}")
    endif()
  elseif(has_floor AND ${quoted})
    cmake_path(GET path PARENT_PATH resolved)
    cmake_path(APPEND resolved "${target}")
    cmake_path(NORMAL_PATH resolved)
    if(resolved MATCHES "^(include/whittle|src)/(.+)$")
      check_own_include(${line} "${CMAKE_MATCH_2}")
    else()
      offend(${line} "includes ${target}, which is outside include/ and src/")
    endif()
  endif()
  foreach(guard IN LISTS guarded)
    if("${target}" MATCHES "^${guard}" AND NOT path MATCHES "${allowed_${guard}}")
      offend(${line} "includes ${target}, which has no place here")
    endif()
  endforeach()
endfunction()

function(check_words line text)
  if(NOT "${text}" MATCHES "${words}" AND NOT "${text}" MATCHES "${bare_abort}")
    return()
  endif()
  # Neither in comments nor in string literals.
  string(REGEX REPLACE "\"[^\"]*\"" "\"\"" code "${text}")
  string(REGEX REPLACE "//.*$" "" code "${code}")
  if("${code}" MATCHES "${words}")
  elseif(NOT "${code}" MATCHES "${bare_abort}")
    return()
  endif()
  string(REPLACE "(" "()" readable "${CMAKE_MATCH_2}")
  offend(${line} "the library does not use ${readable}")
endfunction()

function(check_file)
  cmake_path(GET path FILENAME name)
  set(has_floor FALSE)
  set(folder "")
  if(path MATCHES "^(include/whittle|src)/(.+)$")
    set(has_floor TRUE)
    if(CMAKE_MATCH_2 MATCHES "^([^/]+)/")
      set(folder "${CMAKE_MATCH_1}")
    endif()
    look_up_rules()
  endif()
  set(here "`${folder}`")
  if(folder STREQUAL "")
    set(here "the top folder")
  endif()

  file(READ "${ROOT}/${path}" content)
  # What CMake's lists would trip over; none of it matters to the checks. An end of statement becomes an end of block.
  string(REPLACE "\\" "/" content "${content}")
  string(REPLACE "[" "<" content "${content}")
  string(REPLACE "]" ">" content "${content}")
  string(REPLACE ";" "}" content "${content}")
  string(REGEX REPLACE "\n$" "" content "${content}")
  string(REPLACE "\n" " ;" content "${content}")
  set(number 0)
  foreach(text IN LISTS content)
    math(EXPR number "${number} + 1")
    if(text MATCHES "^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]")
      set(quoted FALSE)
      if(CMAKE_MATCH_1 STREQUAL "\"")
        set(quoted TRUE)
      endif()
      check_include(${number} "${CMAKE_MATCH_2}" ${quoted})
      if(has_floor AND "${CMAKE_MATCH_2}" STREQUAL "regex")
        offend(${number} "the library does not use std::regex")
      endif()
    elseif(has_floor)
      check_words(${number} "${text}")
    endif()
  endforeach()
  if(number GREATER max_lines AND path MATCHES "^(include|src|apps)/")
    offend(${number} "has ${number} lines; a file has at most ${max_lines}")
  elseif(number GREATER max_adapter_lines AND path MATCHES "^include/whittle/host/[^/]+$")
    offend(${number} "has ${number} lines; an adapter has at most ${max_adapter_lines}")
  endif()
endfunction()

set(globs)
foreach(top include src apps tests examples bench fuzz)
  foreach(extension hpp cpp h)
    list(APPEND globs "${ROOT}/${top}/*.${extension}")
  endforeach()
endforeach()
file(GLOB_RECURSE paths RELATIVE "${ROOT}" ${globs})
list(FILTER paths EXCLUDE REGEX "^tests/architecture/fixtures/")
foreach(path IN LISTS paths)
  check_file()
endforeach()

set(public_headers ${paths})
list(FILTER public_headers INCLUDE REGEX "^include/")
list(FILTER public_headers EXCLUDE REGEX "/detail/")
list(FILTER public_headers EXCLUDE REGEX "/evaluation/")  # a component of its own, which has two
list(FILTER public_headers EXCLUDE REGEX "/telemetry/")  # likewise
list(FILTER public_headers EXCLUDE REGEX "/(conformance|sqlite|sealing|redis)/")  # likewise, one each
list(FILTER public_headers EXCLUDE REGEX "/host/")  # files to copy, for one host each, and a component for tests
list(FILTER public_headers EXCLUDE REGEX "/logs/")  # likewise, one
list(FILTER public_headers EXCLUDE REGEX "/durable/")  # likewise, two
list(FILTER public_headers EXCLUDE REGEX "/servers/")  # likewise, three
list(FILTER public_headers EXCLUDE REGEX "/(redaction|retention)/")  # likewise, four in all
list(LENGTH public_headers number)
if(number GREATER max_public_headers)
  set(path include/whittle)
  offend(1 "has ${number} headers outside detail/; users get at most ${max_public_headers}")
endif()

get_property(offending GLOBAL PROPERTY whittle_offences)
list(LENGTH offending offences)
list(LENGTH paths files)
if(files EQUAL 0)
  message(FATAL_ERROR "no files found under ${ROOT}")
endif()
if(offences GREATER 0)
  message(FATAL_ERROR "${offences} offences against the floors in ${files} files")
endif()
message("${files} files keep to the floors")
