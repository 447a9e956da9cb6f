# Sources of real runtimes, where they are: targets whittle_host_<name> of a runtime's own loop and types, for the tests
# and programs of its adapter. Absent ones are skipped with a message. scripts/fetch_hosts downloads llama.cpp's.
set(hosts "${PROJECT_SOURCE_DIR}/../shared/hosts")
set(WHITTLE_HOST_GAIA "${hosts}/gaia/cpp" CACHE PATH "Folder cpp/ of amd/gaia")
set(WHITTLE_HOST_AI_SDK_CPP "${hosts}/ai_sdk_cpp" CACHE PATH "Sources of ClickHouse/ai-sdk-cpp")
set(WHITTLE_HOST_AGENT_CPP "${hosts}/agent_cpp" CACHE PATH "Sources of mozilla-ai/agent.cpp")
set(WHITTLE_HOST_LLAMA_CPP "${PROJECT_SOURCE_DIR}/build/hosts/llama.cpp" CACHE PATH "Sources of llama.cpp")
mark_as_advanced(WHITTLE_HOST_GAIA WHITTLE_HOST_AI_SDK_CPP WHITTLE_HOST_AGENT_CPP WHITTLE_HOST_LLAMA_CPP)

# whittle_add_host(<name> PROOF <file that must be there>... SOURCES <files> INCLUDE <folders>): compiled as its owner
# does, without our warnings.
function(whittle_add_host name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PROOF;SOURCES;INCLUDE")
  foreach(file IN LISTS arg_PROOF)
    if(NOT EXISTS "${file}")
      message(STATUS "The adapter of ${name} is not tried: there is no ${file}")
      return()
    endif()
  endforeach()
  set(target whittle_host_${name})
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_include_directories(${target} SYSTEM PUBLIC ${arg_INCLUDE})
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_compile_options(${target} PRIVATE -w)
  target_link_libraries(${target} PUBLIC nlohmann_json::nlohmann_json Threads::Threads)
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
endfunction()

# Without http_client.cpp: programs and tests bring a transport of their own.
set(gaia_sources agent types json_utils tool_registry lemonade_client mcp_client mcp_registry security console
                 clean_console model_registry sse_parser image process)
list(TRANSFORM gaia_sources PREPEND "${WHITTLE_HOST_GAIA}/src/")
list(TRANSFORM gaia_sources APPEND ".cpp")
whittle_add_host(
  gaia
  PROOF "${WHITTLE_HOST_GAIA}/include/gaia/agent.h" SOURCES ${gaia_sources} INCLUDE "${WHITTLE_HOST_GAIA}/include"
)

# The SDK is C++20 with <format>, which older standard libraries lack: they get its two names from fmt.
whittle_add_host(
  ai_sdk_cpp
  PROOF "${WHITTLE_HOST_AI_SDK_CPP}/include/ai/tools.h"
  SOURCES "${WHITTLE_HOST_AI_SDK_CPP}/src/tools/multi_step_coordinator.cpp"
          "${WHITTLE_HOST_AI_SDK_CPP}/src/tools/tool_executor.cpp"
  INCLUDE "${WHITTLE_HOST_AI_SDK_CPP}/include"
)
if(TARGET whittle_host_ai_sdk_cpp)
  target_compile_features(whittle_host_ai_sdk_cpp PUBLIC cxx_std_20)
  include(CheckIncludeFileCXX)
  set(CMAKE_REQUIRED_FLAGS "${CMAKE_CXX20_STANDARD_COMPILE_OPTION}")
  check_include_file_cxx(format WHITTLE_HAS_FORMAT)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT WHITTLE_HAS_FORMAT)
    target_include_directories(whittle_host_ai_sdk_cpp SYSTEM PRIVATE "${PROJECT_SOURCE_DIR}/extensions/hosts/tests/lacking")
    target_link_libraries(whittle_host_ai_sdk_cpp PRIVATE fmt::fmt)
  endif()
endif()

# Without model.cpp: programs and tests bring a model of their own, so that nothing of llama.cpp is linked.
whittle_add_host(
  agent_cpp
  PROOF "${WHITTLE_HOST_AGENT_CPP}/src/callbacks.h" "${WHITTLE_HOST_LLAMA_CPP}/common/chat.h"
  SOURCES "${WHITTLE_HOST_AGENT_CPP}/src/agent.cpp"
  INCLUDE "${WHITTLE_HOST_AGENT_CPP}/src" "${WHITTLE_HOST_LLAMA_CPP}/common" "${WHITTLE_HOST_LLAMA_CPP}/include"
          "${WHITTLE_HOST_LLAMA_CPP}/ggml/include" "${WHITTLE_HOST_LLAMA_CPP}/vendor"
)
