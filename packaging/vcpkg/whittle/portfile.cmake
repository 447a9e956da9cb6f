# Where the sources are. Empty: the checkout that this port lies in. A port in a registry lies in none: there these two lines
# name the archive of a release.
set(archive_url "")
set(archive_sha512 "")

if(archive_url)
  vcpkg_download_distfile(
    archive URLS "${archive_url}" FILENAME "whittle-${VERSION}.tar.gz" SHA512 "${archive_sha512}"
  )
  vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${archive}")
else()
  get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  if(NOT EXISTS "${SOURCE_PATH}/include/whittle/whittle.hpp")
    message(FATAL_ERROR "whittle: this port lies in no checkout of whittle, and its archive_url is empty")
  endif()
endif()

vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
set(extensions encryption http redis spdlog sqlite)
vcpkg_check_features(
  OUT_FEATURE_OPTIONS feature_options
  FEATURES
    encryption WHITTLE_ENCRYPTION
    http WHITTLE_HTTP
    redis WHITTLE_REDIS
    spdlog WHITTLE_SPDLOG
    sqlite WHITTLE_SQLITE
    tool WHITTLE_BUILD_APPS
)
# The tool names the pages that are installed with it by their place beside its own, so it is installed where it stays.
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${feature_options} -DWHITTLE_BUILD_TESTS=OFF -DWHITTLE_BUILD_EXAMPLES=OFF
  OPTIONS_RELEASE "-DCMAKE_INSTALL_BINDIR=tools/${PORT}"
  OPTIONS_DEBUG -DWHITTLE_BUILD_APPS=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/whittle)
vcpkg_fixup_pkgconfig()

# CMake leaves out what it does not find the library of, with a line of its own.
foreach(name IN LISTS extensions)
  string(SUBSTRING "${name}" 0 1 first)
  string(TOUPPER "${first}" first)
  string(SUBSTRING "${name}" 1 -1 rest)
  if(name IN_LIST FEATURES AND NOT EXISTS "${CURRENT_PACKAGES_DIR}/share/${PORT}/whittle${first}${rest}Targets.cmake")
    message(FATAL_ERROR "whittle: the feature ${name} was asked for, and CMake did not find its library")
  endif()
endforeach()
if("tool" IN_LIST FEATURES)
  vcpkg_copy_tool_dependencies("${CURRENT_PACKAGES_DIR}/tools/${PORT}")
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE")
