# whittle::whittle, whittle::json, whittle::evaluation, whittle::telemetry, whittle::logs, whittle::storage_conformance,
# whittle::sqlite, whittle::sealing, whittle::redis, whittle::durable, whittle::redaction, whittle::retention,
# whittle::host_conformance, whittle::host_boundary, whittle::servers and whittle::http (compiled), whittle::spdlog
# (headers only).
include(WhittleFiles)

# Every public header must compile on its own: the target all_verify_interface_header_sets checks it.
if(PROJECT_IS_TOP_LEVEL AND WHITTLE_BUILD_TESTS)
  set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)
endif()

add_library(whittle STATIC)
add_library(whittle::whittle ALIAS whittle)
target_sources(
  whittle
  PRIVATE ${whittle_sources}
  PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${whittle_headers}
)
target_compile_features(whittle PUBLIC cxx_std_20)
# fmt reaches a consumer's linker (the library is static), never its compiler. nlohmann_json is headers only: once
# whittle is compiled, nothing of it is left to link.
target_link_libraries(
  whittle
  PUBLIC Threads::Threads
  PRIVATE fmt::fmt $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>
)
set_target_properties(whittle PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
whittle_set_warnings(whittle)
target_compile_options(whittle PRIVATE ${WHITTLE_HOT_FLAGS})
whittle_compile_by_folder(whittle)
# A host compiles the core once and never a part of it anew: folders together, since two files of one folder each cost the
# compiler the headers and what it makes of the standard library's templates again. Four, for as many cores.
if(NOT PROJECT_IS_TOP_LEVEL)
  set(together "base|message|port|tokens" "chain|conversation|loop|replay" "compaction|digest|reduction" "preset|summarization|token_saving")
  foreach(folders IN LISTS together)
    set(sources ${whittle_sources})
    list(FILTER sources INCLUDE REGEX "^src/(${folders})/")
    string(MAKE_C_IDENTIFIER "${folders}" group)
    set_source_files_properties(${sources} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endif()
set(whittle_precompiled "${PROJECT_SOURCE_DIR}/cmake/precompiled")
whittle_precompile(
  whittle_core_headers HEADERS "${whittle_precompiled}/library.hpp" LINK fmt::fmt OPTIONS ${WHITTLE_HOT_FLAGS}
)
whittle_reuse_precompiled(whittle whittle_core_headers)
# These share templates: compiled as one, each is inlined less, and counting takes a third more instructions.
set_source_files_properties(
  src/tokens/estimate.cpp src/tokens/vocabulary.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
)

# For files over JSON messages: extensions and programs.
whittle_precompile(
  whittle_json_headers
  HEADERS "${whittle_precompiled}/json.hpp" LINK whittle fmt::fmt nlohmann_json::nlohmann_json
)

# whittle_add_component(<name> <arguments of target_link_libraries>): whittle::<name>, compiled from whittle_<name>_sources,
# with whittle_<name>_headers. A host that does not install builds it if it links it.
# HOT in front of the libraries: tests spend their time in it.
function(whittle_add_component name)
  list(FIND ARGN HOT hot)
  list(REMOVE_ITEM ARGN HOT)
  set(target whittle_${name})
  add_library(${target} STATIC)
  add_library(whittle::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_sources(
    ${target}
    PRIVATE ${${target}_sources}
    PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${${target}_headers}
  )
  target_link_libraries(${target} ${ARGN})
  whittle_set_warnings(${target})
  whittle_compile_by_folder(${target})
  if(hot EQUAL 0)
    target_compile_options(${target} PRIVATE ${WHITTLE_HOT_FLAGS})
  elseif(NOT "whittle" IN_LIST ARGN)
    whittle_reuse_precompiled(${target} whittle_json_headers)
  endif()
  if(NOT WHITTLE_INSTALL)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
endfunction()

if(NOT WHITTLE_INSTALL)
  set_target_properties(whittle PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()

# The adapters, with the library's templates over their message types, and the models of providers, over any
# HttpTransport.
whittle_add_component(json PUBLIC whittle nlohmann_json::nlohmann_json PRIVATE fmt::fmt)
if(TARGET whittle_json_headers)
  target_sources(whittle_json PRIVATE "${whittle_precompiled}/json.cpp")
  set_source_files_properties(
    "${whittle_precompiled}/json.cpp" src/adapter/parse_json.cpp
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "${WHITTLE_HOT_FLAGS}"
  )
endif()
set_source_files_properties(
  src/json/openai.cpp src/json/anthropic.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON  # large, for two compilers at once
)
# Among others the parser is inlined less, and parsing takes twice the time.
set_source_files_properties(src/adapter/parse_json.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# What strategies cost and what they forget, on recorded sessions: for `whittle compare`, and for programs like it.
whittle_add_component(evaluation PUBLIC whittle_json PRIVATE fmt::fmt)

# What chains did, for OpenTelemetry over any HttpTransport and for Prometheus.
whittle_add_component(telemetry PUBLIC whittle_json PRIVATE fmt::fmt)

# What every store promises, as checks: for those who write one.
whittle_add_component(storage_conformance PUBLIC whittle PRIVATE fmt::fmt)

# Whether a host's message traits lose nothing: for the tests of hosts.
whittle_add_component(host_conformance PUBLIC whittle PRIVATE fmt::fmt)

# A context behind a header that is C++17: what it links reaches a consumer's linker, never its compiler.
whittle_add_component(host_boundary PRIVATE whittle_json)
target_compile_features(whittle_host_boundary PUBLIC cxx_std_17)

# What servers of one's own say of themselves, over any HttpTransport.
whittle_add_component(servers PUBLIC whittle_json PRIVATE fmt::fmt)

# Sessions as agents leave them on disk: for the tool, and for programs that read them.
whittle_add_component(logs PUBLIC whittle_json PRIVATE fmt::fmt)

# Conversations as logs in any store.
whittle_add_component(durable PUBLIC whittle_json PRIVATE fmt::fmt)

# What is masked before a store has it.
whittle_add_component(redaction HOT PUBLIC whittle_json PRIVATE fmt::fmt)

# What of a store may go.
whittle_add_component(retention PUBLIC whittle_json PRIVATE fmt::fmt)

if(TARGET spdlog::spdlog)
  add_library(whittle_spdlog INTERFACE)
  add_library(whittle::spdlog ALIAS whittle_spdlog)
  set_target_properties(whittle_spdlog PROPERTIES EXPORT_NAME spdlog)
  target_sources(
    whittle_spdlog
    INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES "${whittle_spdlog_header}"
  )
  target_link_libraries(whittle_spdlog INTERFACE whittle spdlog::spdlog)
endif()

if(NOT TARGET CURL::libcurl)
  message(STATUS "whittle::http is left out: there is no libcurl 7.68 or newer here")
else()
  whittle_add_component(http PUBLIC whittle_json PRIVATE fmt::fmt CURL::libcurl)  # libcurl reaches only the linker
endif()

# whittle_add_store(<name> <target> <library, as people call it>): a component on the core and a library that reaches only
# the linker; left out, with a message, where WHITTLE_<NAME> is off or there is no such library.
function(whittle_add_store name needed library)
  string(TOUPPER "${name}" upper)
  if(NOT WHITTLE_${upper})
    message(STATUS "whittle::${name} is left out: WHITTLE_${upper} is off")
  elseif(NOT TARGET ${needed})
    message(STATUS "whittle::${name} is left out: there is no ${library} here")
  else()
    whittle_add_component(${name} PUBLIC whittle PRIVATE fmt::fmt ${needed})
  endif()
endfunction()

whittle_add_store(sqlite SQLite::SQLite3 "SQLite 3.37 or newer")
whittle_add_store(sealing sodium::sodium libsodium)
whittle_add_store(redis hiredis::hiredis hiredis)

# TLS is a library of its own, which hiredis has since 1.0.
if(TARGET whittle_redis AND TARGET hiredis::hiredis_ssl)
  target_link_libraries(whittle_redis PRIVATE hiredis::hiredis_ssl)
  target_compile_definitions(whittle_redis PRIVATE WHITTLE_HAVE_HIREDIS_SSL=1)
elseif(TARGET whittle_redis)
  message(STATUS "whittle::redis has no TLS: there is no hiredis_ssl here")
endif()
