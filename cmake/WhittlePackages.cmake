# What `cpack` makes of the installed package: libwhittle-dev_<version>_<architecture>.deb with the libraries, headers and pages,
# whittle_<version>_<architecture>.deb with the tool, and an archive of both. scripts/release calls it.
set(WHITTLE_PACKAGER "The whittle authors <packager@invalid>" CACHE STRING "Who answers for packages: a name and an address")
set(WHITTLE_HOMEPAGE "" CACHE STRING "The address that packages name, if there is one")
mark_as_advanced(WHITTLE_PACKAGER WHITTLE_HOMEPAGE)

set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_NAME whittle)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_VENDOR "The whittle authors")
set(CPACK_PACKAGE_CONTACT "${WHITTLE_PACKAGER}")
set(CPACK_PACKAGE_HOMEPAGE_URL "${WHITTLE_HOMEPAGE}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "keeps the message history of LLM agents small")
set(CPACK_PACKAGE_DESCRIPTION "A C++20 library of middlewares that keep the message history of an LLM agent small,\n\
valid, cheap and recoverable.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_COMPONENTS_ALL whittle_development)
if(TARGET whittle_cli)
  list(APPEND CPACK_COMPONENTS_ALL whittle_tool)
endif()
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/prepare_package.cmake")
set(CPACK_THREADS 1)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_WHITTLE_DEVELOPMENT_PACKAGE_NAME libwhittle-dev)
set(CPACK_DEBIAN_WHITTLE_DEVELOPMENT_PACKAGE_SECTION libdevel)
# The compiled code names fmt's major version and the JSON library's whole one. What CMake downloaded is no package.
if(fmt_VERSION AND nlohmann_json_VERSION)
  string(REGEX MATCH "^[0-9]+" fmt_major "${fmt_VERSION}")
  math(EXPR fmt_next "${fmt_major} + 1")
  string(REGEX REPLACE "^([0-9]+\\.[0-9]+).*" "\\1" json_minor "${nlohmann_json_VERSION}")
  string(REGEX REPLACE "^[0-9]+\\.[0-9]+\\.([0-9]+).*" "\\1" json_patch "${nlohmann_json_VERSION}")
  math(EXPR json_next "${json_patch} + 1")
  set(CPACK_DEBIAN_WHITTLE_DEVELOPMENT_PACKAGE_DEPENDS
      "libfmt-dev (>= ${fmt_major}), libfmt-dev (<< ${fmt_next}), nlohmann-json3-dev (>= ${nlohmann_json_VERSION}), \
  nlohmann-json3-dev (<< ${json_minor}.${json_next})"
  )
endif()
set(CPACK_DEBIAN_WHITTLE_DEVELOPMENT_PACKAGE_RECOMMENDS "cmake (>= 3.24) | pkg-config")
set(CPACK_DEBIAN_WHITTLE_DEVELOPMENT_PACKAGE_SUGGESTS
    "libcurl4-openssl-dev, libsqlite3-dev, libhiredis-dev, libsodium-dev, libspdlog-dev"
)
set(CPACK_COMPONENT_WHITTLE_DEVELOPMENT_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}\nThis package has its headers, its static libraries and its pages.")
set(CPACK_DEBIAN_WHITTLE_TOOL_PACKAGE_NAME whittle)
set(CPACK_DEBIAN_WHITTLE_TOOL_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_WHITTLE_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_WHITTLE_TOOL_DESCRIPTION "The program replays recorded sessions of agents and shows what whittle saves.")
include(CPack)
