# whittle::whittle, the core.
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
whittle_set_compile_options(whittle)
target_compile_options(whittle PRIVATE ${WHITTLE_HOT_FLAGS})
whittle_compile_by_folder(whittle)
# A host compiles the core once and never a part of it anew: folders together, since two files of one folder each cost the
# compiler the headers and what it makes of the standard library's templates again. Four, for as many cores.
if(NOT PROJECT_IS_TOP_LEVEL)
  set(together "base|fields|message|model|storage|tokens" "chain|conversation|loop" "compaction|pruning|summary|reduction"
      "preset|summarization|token_saving|trimming"
  )
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
# Compiled with others its templates are inlined less, and counting takes a third more instructions.
set_source_files_properties(src/tokens/estimate.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# Not optimised and behind a precompiled header, g++ 12 takes the intrinsics for functions, whose arguments are no constants.
set_source_files_properties(src/base/sha256_x86.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
if(NOT WHITTLE_INSTALL)
  set_target_properties(whittle PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()

# For files over JSON messages: extensions and programs.
whittle_precompile(
  whittle_json_headers
  HEADERS "${whittle_precompiled}/json.hpp" LINK whittle fmt::fmt nlohmann_json::nlohmann_json
  EXTENSIONS provider openai anthropic
)
