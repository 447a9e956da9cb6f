# whittle::whittle, whittle::json, whittle::evaluation and whittle::http (compiled), whittle::spdlog (headers only).
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
whittle_compile_by_folder(whittle)
# Counting is inlined well file by file: compiled as one it takes a third more instructions.
set(counting ${whittle_sources})
list(FILTER counting INCLUDE REGEX "^src/tokens/")
set_source_files_properties(${counting} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# The adapters, with the library's templates over their message types, and the models of providers, over any
# HttpTransport. A host that does not install builds either library if it links it.
add_library(whittle_json STATIC)
add_library(whittle::json ALIAS whittle_json)
set_target_properties(whittle_json PROPERTIES EXPORT_NAME json CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
target_sources(
  whittle_json
  PRIVATE ${whittle_json_sources}
  PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${whittle_json_headers}
)
target_link_libraries(whittle_json PUBLIC whittle nlohmann_json::nlohmann_json PRIVATE fmt::fmt)
whittle_set_warnings(whittle_json)
whittle_compile_by_folder(whittle_json)
set_source_files_properties(
  src/json/openai.cpp src/json/anthropic.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON  # large, for two compilers at once
)
if(NOT WHITTLE_INSTALL)
  set_target_properties(whittle whittle_json PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()

# What strategies cost and what they forget, on recorded sessions: for `whittle compare`, and for programs like it.
add_library(whittle_evaluation STATIC)
add_library(whittle::evaluation ALIAS whittle_evaluation)
set_target_properties(
  whittle_evaluation PROPERTIES EXPORT_NAME evaluation CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
)
target_sources(
  whittle_evaluation
  PRIVATE ${whittle_evaluation_sources}
  PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${whittle_evaluation_headers}
)
target_link_libraries(whittle_evaluation PUBLIC whittle_json PRIVATE fmt::fmt)
whittle_set_warnings(whittle_evaluation)
whittle_compile_by_folder(whittle_evaluation)
if(NOT WHITTLE_INSTALL)
  set_target_properties(whittle_evaluation PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()

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
  add_library(whittle_http STATIC)
  add_library(whittle::http ALIAS whittle_http)
  set_target_properties(
    whittle_http PROPERTIES EXPORT_NAME http CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
  )
  target_sources(
    whittle_http
    PRIVATE ${whittle_http_sources}
    PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${whittle_http_headers}
  )
  # libcurl reaches only the linker.
  target_link_libraries(whittle_http PUBLIC whittle_json PRIVATE fmt::fmt CURL::libcurl)
  whittle_set_warnings(whittle_http)
  whittle_compile_by_folder(whittle_http)
  if(NOT WHITTLE_INSTALL)
    set_target_properties(whittle_http PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
endif()
