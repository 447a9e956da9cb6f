# shellcheck shell=bash
# What a build for another system, or with another standard library, needs: the packages that are headers alone, from this machine's, below a folder of their own.
#   . scripts/lib/header_packages.sh; header_packages FOLDER

# header_package <folder> <name> <target> <version> [definition]: a package of CMake that is headers.
header_package() {
  local folder=$1/lib/cmake/$2
  mkdir -p "$folder"
  cat >"$folder/$2Config.cmake" <<CONFIG
if(NOT TARGET $3)
  add_library($3 INTERFACE IMPORTED)
  set_target_properties($3 PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "\${CMAKE_CURRENT_LIST_DIR}/../../../include"
                                      INTERFACE_COMPILE_DEFINITIONS "${5:-}")
endif()
CONFIG
  cat >"$folder/$2ConfigVersion.cmake" <<VERSION
set(PACKAGE_VERSION $4)
set(PACKAGE_VERSION_COMPATIBLE TRUE)
VERSION
}

# version_in <header> <macro prefix>: of three macros _MAJOR, _MINOR, _PATCH
version_in() {
  sed -n "s/^#define $2_MAJOR *\([0-9]*\).*/\1/p; s/^#define $2_MINOR *\([0-9]*\).*/\1/p; s/^#define $2_PATCH *\([0-9]*\).*/\1/p" "$1" |
    head -n 3 | paste -sd.
}

header_packages() {
  local folder=$1 name
  mkdir -p "$folder/include"
  for name in fmt nlohmann catch2 CLI; do
    if [ ! -d "/usr/include/$name" ]; then
      echo "header_packages: /usr/include/$name is missing; install libfmt-dev, nlohmann-json3-dev, catch2 and libcli11-dev" >&2
      return 1
    fi
    rm -rf "${folder:?}/include/$name"
    cp -r "/usr/include/$name" "$folder/include/"
  done
  header_package "$folder" fmt fmt::fmt "$(sed -n 's/^#define FMT_VERSION \([0-9]*\)\([0-9][0-9]\)\([0-9][0-9]\)$/\1.\2.\3/p' \
    /usr/include/fmt/core.h)" FMT_HEADER_ONLY
  header_package "$folder" nlohmann_json nlohmann_json::nlohmann_json \
    "$(version_in "$(grep -rlE '^#define NLOHMANN_JSON_VERSION_MAJOR ' /usr/include/nlohmann | head -n 1)" NLOHMANN_JSON_VERSION)"
  header_package "$folder" Catch2 Catch2::Catch2 2
  header_package "$folder" CLI11 CLI11::CLI11 "$(sed -n 's/^#define CLI11_VERSION "\(.*\)"$/\1/p' /usr/include/CLI/Version.hpp)"
}
