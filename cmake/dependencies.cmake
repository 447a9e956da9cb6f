# System packages come first (FIND_PACKAGE_ARGS); only what is missing and needed is downloaded. What an extension needs is
# never downloaded: it is built where the host has it. To work without a network, install the packages or point FETCHCONTENT_SOURCE_DIR_<NAME> at unpacked sources.
include(FetchContent)

set(WHITTLE_FETCH_OPTIONS DOWNLOAD_EXTRACT_TIMESTAMP ON TIMEOUT 180 INACTIVITY_TIMEOUT 30)
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.25)
  list(APPEND WHITTLE_FETCH_OPTIONS SYSTEM)
endif()

# When we are installed, so are the dependencies that we had to download: the package is of no use without them.
if(WHITTLE_INSTALL)
  set(FMT_INSTALL ON)
  set(JSON_Install ON)
endif()
set(JSON_BuildTests OFF)
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)

FetchContent_Declare(
  fmt
  URL https://github.com/fmtlib/fmt/archive/refs/tags/10.2.1.tar.gz
  ${WHITTLE_FETCH_OPTIONS}
  FIND_PACKAGE_ARGS 9
)
FetchContent_Declare(
  nlohmann_json
  URL https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
  ${WHITTLE_FETCH_OPTIONS}
  FIND_PACKAGE_ARGS 3.11
)
FetchContent_Declare(
  Catch2
  URL https://github.com/catchorg/Catch2/archive/refs/tags/v3.5.4.tar.gz
  ${WHITTLE_FETCH_OPTIONS}
  FIND_PACKAGE_ARGS # no version: the tests take Catch2 2 and 3, see tests/support/catch.hpp
)
FetchContent_Declare(
  CLI11
  URL https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.1.tar.gz
  ${WHITTLE_FETCH_OPTIONS}
  FIND_PACKAGE_ARGS 2.1
)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
FetchContent_MakeAvailable(fmt nlohmann_json)

if(WHITTLE_BUILD_TESTS)
  FetchContent_MakeAvailable(Catch2)
endif()
if(WHITTLE_BUILD_APPS)
  FetchContent_MakeAvailable(CLI11)
  find_package(ZLIB QUIET)
  find_package(SQLite3 QUIET)
  # zstd's own package names its targets in four ways; the file and the header are enough.
  find_library(WHITTLE_ZSTD_LIBRARY zstd)
  find_path(WHITTLE_ZSTD_INCLUDE_DIR zstd.h)
  mark_as_advanced(WHITTLE_ZSTD_LIBRARY WHITTLE_ZSTD_INCLUDE_DIR)
endif()
