# What tests, and benchmarks, are built with. WHITTLE_HAVE_<NAME>=1 says that an extension is here.

# The message types that extensions bring: <name>::Message, where tests/generated_messages.hpp says how one is generated.
set(types "#pragma once\n\n")
set(visits)
foreach(name IN LISTS whittle_extensions)
  if(EXISTS "${PROJECT_SOURCE_DIR}/extensions/${name}/tests/generated_messages.hpp")
    string(APPEND types "#include \"extensions/${name}/tests/generated_messages.hpp\"\n")
    string(APPEND visits " V(${name}::Message)")
  endif()
  string(TOUPPER "WHITTLE_HAVE_${name}=1" have)
  list(APPEND whittle_haves ${have})
endforeach()
string(APPEND types "\n#define WHITTLE_EXTENSION_MESSAGE_TYPES(V)${visits}\n")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/tests/generated/generated_message_types.hpp" CONTENT "${types}" @ONLY)
add_library(whittle_test_support INTERFACE)
target_include_directories(
  whittle_test_support INTERFACE "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/tests/generated"
)
target_compile_definitions(whittle_test_support INTERFACE ${whittle_haves})

# whittle_add_suite(<name> <folder>): the .cpp files of a folder become whittle_tests_<name> and the ctest test <name>.
#   LINK <libraries>, beside the extensions that its files include
#   SOAKS   they take a share of the cases (support/soak.hpp); `ctest -L soak` runs them with all
#   STORE   it is held to the contract at full size by `ctest -C sizes -L sizes`
#   APART   files that have helpers of the names of others; ALL_APART: each has
#   VOCABULARY <name>  a packed vocabulary of the folder that the program carries
function(whittle_add_suite name folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SOAKS;STORE;ALL_APART" "VOCABULARY" "LINK;APART")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  if(only_threads)
    foreach(source IN LISTS sources)
      file(STRINGS "${source}" starts REGEX "${starts_threads}")
      if(NOT starts)
        list(REMOVE_ITEM sources "${source}")
      endif()
    endforeach()
  endif()
  if(NOT TARGET whittle_real_model_parts)
    list(FILTER sources EXCLUDE REGEX "/real_model_")
  endif()
  whittle_without_missing(sources)
  if(NOT sources)
    return()
  endif()
  set(target whittle_tests_${name})
  whittle_add_executable(
    ${target}
    SOURCES ${sources}
    LINK whittle_test_support whittle_test_main Catch2::Catch2 fmt::fmt Threads::Threads ${arg_LINK}
    HEADERS whittle_test_headers
  )
  target_include_directories(${target} PRIVATE "${folder}")
  target_compile_definitions(
    ${target}
    PRIVATE WHITTLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" WHITTLE_DATA_DIR="${PROJECT_SOURCE_DIR}/../shared/data"
            WHITTLE_JUDGE="${PROJECT_SOURCE_DIR}/../shared/tools/judge/judge.py"
  )
  if(arg_VOCABULARY)
    whittle_embed_vocabulary(${target} ${arg_VOCABULARY} FILE "${folder}/${arg_VOCABULARY}.whittle")
  endif()
  if(arg_ALL_APART)
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  endif()
  list(TRANSFORM arg_APART PREPEND "${folder}/")
  set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  add_dependencies(whittle_tests_of_folders ${target})

  whittle_add_suite_test(${name} "~[large]~[.]" LABELS unit TIMEOUT ${test_timeout})
  if(name MATCHES "^(commands|http|laws|redis|sqlite)$")
    set_tests_properties(${name} PROPERTIES COST 50) # they take longest, some of them by waiting: begin with them
  endif()
  if(WHITTLE_BUILD_EXTRA_TESTS)
    foreach(source IN LISTS sources)
      file(STRINGS "${source}" large_here REGEX "\\[large\\]")
      if(large_here)
        math(EXPR large_timeout "2 * ${test_timeout}") # up to 100 s where nothing else runs
        whittle_add_suite_test(large.${name} "[large]" TIMEOUT ${large_timeout})
        set_tests_properties(large.${name} PROPERTIES LABELS "unit;large" COST 50)
        break()
      endif()
    endforeach()
  endif()
  if(arg_SOAKS)
    add_test(NAME soak.${name} COMMAND ${target} WORKING_DIRECTORY "${whittle_tests_dir}")
    set_tests_properties(
      soak.${name} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 4 LABELS soak ENVIRONMENT WHITTLE_SOAK=1
    )
  endif()
  if(arg_STORE)
    add_test(NAME sizes.${name} COMMAND ${target} "[contract]" WORKING_DIRECTORY "${whittle_tests_dir}" CONFIGURATIONS sizes)
    set_tests_properties(
      sizes.${name}
      PROPERTIES TIMEOUT 7200 SKIP_RETURN_CODE 4 LABELS sizes RUN_SERIAL ON ENVIRONMENT WHITTLE_SOAK=sizes
    )
  endif()
endfunction()

# whittle_add_suite_test(<test> <filter of Catch2> <properties>): of a suite whose target is in `target`. What it ran is counted.
function(whittle_add_suite_test test filter)
  add_test(NAME ${test} COMMAND ${target} "${filter}" WORKING_DIRECTORY "${whittle_tests_dir}")
  set_tests_properties(
    ${test} PROPERTIES SKIP_RETURN_CODE 4 # every test case was skipped
                       ENVIRONMENT "WHITTLE_COUNTS=${counts_folder}/${test}.txt" ${ARGN}
  )
  set_property(GLOBAL APPEND PROPERTY whittle_suites ${test})
endfunction()
