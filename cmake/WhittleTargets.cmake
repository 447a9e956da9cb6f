# What every target of this repository shares. Nothing here touches a host project: all of it is PRIVATE to our targets.

function(whittle_require_cxx20)
  if(NOT "cxx_std_20" IN_LIST CMAKE_CXX_COMPILE_FEATURES)
    message(FATAL_ERROR "whittle needs a C++20 compiler (g++ 12, clang 14 or newer); "
                        "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} has no C++20 mode that CMake knows of.")
  endif()
endfunction()

# What the compiler needs of us, and warnings only when whittle is the project being worked on: a host builds us with its own
# flags and nothing else.
function(whittle_set_compile_options target)
  if(UNIX AND CMAKE_SIZEOF_VOID_P EQUAL 4) # else sizes and numbers of files have 32 bits there, too
    target_compile_definitions(${target} PRIVATE _FILE_OFFSET_BITS=64)
  endif()
  if(MSVC) # sources are UTF-8; large templates; the standard and no dialect of it
    target_compile_options(${target} PRIVATE /utf-8 /bigobj /permissive- /Zc:__cplusplus)
  endif()
  if(NOT PROJECT_IS_TOP_LEVEL OR MSVC)
    return()
  endif()
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  if(WHITTLE_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# More options for what tests spend their time in: whittle::whittle, masking, Catch2. scripts/test optimises these alone.
set(WHITTLE_HOT_FLAGS "" CACHE STRING "More options for the compiler of whittle::whittle and of what else is hot in tests")
mark_as_advanced(WHITTLE_HOT_FLAGS)

# The files of a folder are compiled as one: most of a file's time goes to headers. Of the libraries by default, of
# programs where CMAKE_UNITY_BUILD is on; a host that sets it decides for both.
function(whittle_compile_by_folder target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    cmake_path(REMOVE_FILENAME folder)
    string(MAKE_C_IDENTIFIER "in_${folder}" group)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY" AND NOT DEFINED CMAKE_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  endif()
endfunction()

# whittle_add_executable(<target> SOURCES <files> LINK <libraries> [HEADERS <precompiled ones>]): an executable of ours:
# example, tool, benchmark, fuzzer, test. It is linked to the extensions that its files include, too.
function(whittle_add_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADERS" "SOURCES;LINK")
  if(NOT arg_HEADERS)
    set(arg_HEADERS whittle_json_headers)
  endif()
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE whittle::whittle nlohmann_json::nlohmann_json ${arg_LINK})
  whittle_link_included(${target})
  if(TARGET whittle_json_headers AND TARGET whittle_provider)
    target_link_libraries(${target} PRIVATE whittle_provider) # the JSON type that these headers declare as compiled
  endif()
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  whittle_set_compile_options(${target})
  whittle_compile_by_folder(${target})
  whittle_reuse_precompiled(${target} ${arg_HEADERS})
endfunction()

# Whether headers are precompiled: in builds of whittle itself that do not optimise. Programs are position-independent
# as libraries are, so that one header serves both; compilers refuse it for a file whose options differ.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS
   AND NOT CMAKE_POSITION_INDEPENDENT_CODE)
  set(WHITTLE_PRECOMPILES ON)
  if(NOT MSVC)
    add_compile_options(-fPIC)
  endif()
endif()

# whittle_precompile(<target> HEADERS <headers> LINK <libraries> [EXTENSIONS <whose headers it includes>] [OPTIONS <of the
# compiler>]): HEADERS, precompiled for those that whittle_reuse_precompiled names. These may be the extensions themselves.
function(whittle_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;LINK;EXTENSIONS;OPTIONS")
  if(NOT WHITTLE_PRECOMPILES)
    return()
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp") # a precompiled header needs a target with a source
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(${target} STATIC EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
  foreach(name IN LISTS arg_EXTENSIONS)
    string(TOUPPER "${name}" upper)
    if(NOT DEFINED WHITTLE_${upper} OR WHITTLE_${upper})
      target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/extensions/${name}/include")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_features(${target} PRIVATE cxx_std_20)
  whittle_set_compile_options(${target})
  target_compile_options(${target} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
endfunction()

function(whittle_reuse_precompiled target headers)
  if(TARGET ${headers})
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# A test that runs `script` with `cmake -P`; further arguments are -D definitions (without the -D).
function(whittle_add_script_test name script)
  list(TRANSFORM ARGN PREPEND "-D" OUTPUT_VARIABLE definitions)
  add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" ${definitions} -P "${script}")
  set_tests_properties(${name} PROPERTIES TIMEOUT 120)
endfunction()

# The same in Python: a test of the repository, which is skipped where there is none.
find_program(WHITTLE_PYTHON python3)
mark_as_advanced(WHITTLE_PYTHON)
function(whittle_add_python_test name script)
  if(WHITTLE_PYTHON)
    add_test(NAME ${name} COMMAND "${WHITTLE_PYTHON}" -B "${script}" ${ARGN} WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  else()
    add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo "${name}: skipped: there is no python3")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 SKIP_REGULAR_EXPRESSION "${name}: skipped")
endfunction()
