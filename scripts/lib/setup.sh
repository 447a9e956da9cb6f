# Shared by scripts/test, scripts/demo and .ci/run. Source it from anywhere; it moves to the top of the repository.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1

jobs=${WHITTLE_JOBS:-$(n=$(nproc 2>/dev/null || echo 1); [ "$n" -gt 2 ] && echo 2 || echo "$n")}

build_packages="g++ cmake ninja-build git ca-certificates nlohmann-json3-dev libfmt-dev libspdlog-dev catch2 libcli11-dev zlib1g-dev"
fast_packages="clang-19 mold" # they compile and link in half the time
optional_packages="ccache libcurl4-openssl-dev libzstd-dev libsqlite3-dev libsodium-dev libhiredis-dev redis-server python3-jsonschema"

# ccache takes what a file includes from the compiler instead of preprocessing it: a build from nothing costs no more.
export CCACHE_DEPEND=${CCACHE_DEPEND:-true}

# What CMake calls this checkout's version.
version_here() { sed -n 's/^ *VERSION \([0-9.]*\)$/\1/p' "$root/CMakeLists.txt"; }

say() { printf '== %s\n' "$*" >&2; }

# Runs "$@" as root: directly, or through sudo, which may ask for a password only where someone can type it.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

can_install() {
  command -v apt-get >/dev/null || return 1
  [ "$(id -u)" = 0 ] && return 0
  command -v sudo >/dev/null || return 1
  [ -t 0 ] || sudo -n true 2>/dev/null
}

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || printf '%s ' "$package"
  done
}

# A full disk shows as compilers and tests that fail without a word. A build takes 2 GiB, and each preset has its own.
has_disk() {
  local free
  free=$(df -Pk "$root" 2>/dev/null | awk 'NR == 2 && $(NF-2) ~ /^[0-9]+$/ && $(NF-2) < 2097152 { print int($(NF-2) / 1024) }')
  [ -z "$free" ] && return 0 # enough, or nobody knows
  say "$free MiB of disk are left at $root, a build takes 2048: make room, or delete build/"
  return 1
}

# Network steps are bounded, so that a registry that is down is a message and not a hang.
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive timeout -k 10 "$1" apt-get -q -o Acquire::Retries=1 \
    -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o DPkg::Lock::Timeout=120 "${@:2}" </dev/null >&2
}

# Installs those of the named Debian packages that are missing. Returns 1, with a message, if some remain missing.
need_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian or Ubuntu system: nothing is installed. Needed are your system's versions of: $*"
    return 1
  fi
  missing=$(missing_packages "$@")
  [ -z "$missing" ] && return 0
  if ! can_install; then
    say "missing packages, and neither root nor sudo at hand. Please run: apt-get install $missing"
    return 1
  fi
  say "installing $missing"
  # shellcheck disable=SC2086
  if ! apt_get 900 install -y --no-install-recommends $missing; then
    apt_get 180 update || say "the package lists could not be refreshed: is the package registry reachable?"
    apt_get 900 install -y --no-install-recommends $missing
  fi
  missing=$(missing_packages "$@")
  [ -z "$missing" ] && return 0
  say "could not install: $missing(package registry down, or no such package here)"
  return 1
}

# Everything a build needs, or a clear word on what is missing. Libraries that are missing may still be downloaded by
# CMake; a missing compiler or CMake ends the script.
need_build_tools() {
  local tool lacking=""
  # shellcheck disable=SC2086
  need_packages $build_packages || say "trying to go on without; CMake downloads the libraries it cannot find"
  # shellcheck disable=SC2086
  need_packages $optional_packages || say "going on without some of $optional_packages: ccache only saves time, libcurl is for whittle::http alone, libsodium for whittle::encryption, hiredis for whittle::redis and redis-server for its tests, SQLite for whittle::sqlite and, as libzstd, for the tool's reading of logs"
  # shellcheck disable=SC2086
  [ -n "${CXX:-}" ] || fast_compiler >/dev/null || need_packages $fast_packages ||
    say "going on with the compiler that is here, which takes about twice the time"
  for tool in cmake "${CXX:-c++}"; do
    command -v "$tool" >/dev/null || lacking="$lacking $tool"
  done
  if [ -n "$lacking" ]; then
    say "needed and not found:$lacking. whittle needs CMake 3.25 or newer and g++ 12, clang 14 or newer."
    return 1
  fi
  if ! cmake -P scripts/lib/require_cmake.cmake; then
    say "whittle's presets need CMake 3.25 or newer; this is $(cmake --version | head -n 1)"
    return 1
  fi
}

# clang with its sanitizer and fuzzer runtimes, whose package name carries the version.
need_clang() {
  local version
  need_packages clang || return 1
  version=$(clang --version | sed -n 's/.*clang version \([0-9]*\).*/\1/p')
  need_packages "libclang-rt-$version-dev"
}

# For configure: the files of a folder are compiled as one. A build from nothing takes half as long, and one file that
# changed takes its folder along.
together=-DCMAKE_UNITY_BUILD=ON

# The newest clang from 16 on that is there; it compiles in half the time of g++, with precompiled headers in a third.
fast_compiler() {
  local version
  for version in 22 21 20 19 18 17 16; do
    command -v "clang++-$version" && return
  done
  return 1
}

# For configure: the linker that takes least time of those that are here, for any compiler.
linked_fast() {
  command -v ld.gold >/dev/null && echo "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold"
  return 0
}

# For configure: the compiler and linker that take least time of those that are here; CXX decides if it is set.
fast_tools() {
  local compiler
  if [ -z "${CXX:-}" ] && compiler=$(fast_compiler); then echo "-DCMAKE_CXX_COMPILER=$compiler"; fi
  if command -v mold >/dev/null && [ "${compiler:-}" ]; then
    echo "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold"
  else
    linked_fast
  fi
}

# For a build of the preset dev that only runs tests: no symbols. Tests are hardly optimised, which costs most of their
# compile time; with clang the libraries that they run in are.
quick() {
  local tools
  tools=$(fast_tools)
  echo "$together $tools"
  case $tools in
    *clang*) echo "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -DWHITTLE_HOT_FLAGS=-O1" ;;
    *) echo "-DCMAKE_CXX_FLAGS_DEBUG=-Og" ;;
  esac
}

# say_how_long <all: yes or no>: how long scripts/test takes from nothing on this machine, by the time that it compiles the
# yardstick in: with clang 190 times that on two cores, 230 with --all (bench/README.md).
say_how_long() {
  local object begun tenths seconds times=$([ "$1" = yes ] && echo 230 || echo 190)
  object=$(mktemp)
  begun=$(date +%s%N)
  "${CXX:-c++}" -std=c++20 -c bench/compile_time/json.cpp -o "$object" 2>/dev/null || times=0
  rm -f "$object"
  [ "$times" = 0 ] && return
  tenths=$((($(date +%s%N) - begun) / 100000000))
  seconds=$((tenths * times * 2 / jobs / 10))
  say "this takes about $(((seconds + 59) / 60)) minutes from nothing: a program with nlohmann_json takes $((tenths / 10)).$((tenths % 10)) s to compile here"
}

# configure <preset> [cmake arguments]: from nothing, into build/<preset>.
configure() {
  local preset=$1
  shift
  command -v ninja >/dev/null && export CMAKE_GENERATOR=Ninja
  if ! timeout -k 10 900 cmake --fresh --preset "$preset" "$@" >&2; then
    say "configuring the preset $preset failed. If a download failed: install the packages named above and try again."
    return 1
  fi
}

# build <preset> [targets]
build() {
  local preset=$1
  shift
  cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"} >&2
}

# Some kernels randomise addresses more than a sanitizer's runtime can take, and some containers forbid what the leak
# checker does: finds out what a program with `-fsanitize=$1` needs here. Prints the command to put in front.
sanitizer_prefix() {
  local dir prefix i
  dir=$(mktemp -d)
  printf 'int main() { int* p = new int(1); int v = *p; delete p; return v - 1; }\n' >"$dir/probe.cpp"
  if ! "${CXX:-c++}" "-fsanitize=$1" "$dir/probe.cpp" -o "$dir/probe" >&2; then
    rm -rf "$dir"
    return 1
  fi
  for prefix in "" "setarch -R" "env ASAN_OPTIONS=detect_leaks=0" "setarch -R env ASAN_OPTIONS=detect_leaks=0"; do
    for i in 1 2 3 4 5 6 7 8 9 10 fine; do
      [ "$i" = fine ] && break
      $prefix "$dir/probe" >/dev/null 2>&1 || break
    done
    if [ "$i" = fine ]; then
      rm -rf "$dir"
      echo "$prefix"
      return 0
    fi
  done
  rm -rf "$dir"
  say "programs built with -fsanitize=$1 do not run on this machine"
  return 1
}

# run_tests <preset> [ctest arguments]: sets passed, failed and skipped: test cases of suites, and other tests. Says what
# was skipped, and why.
run_tests() {
  local preset=$1 report=$root/build/$1/ctest.xml counts=$root/build/$1/tests/counts status=0
  shift
  rm -f "$report" "$counts"/*.txt
  # One more than there are cores: some tests wait.
  ${ctest_prefix:-} ctest --preset "$preset" -j "$((jobs + 1))" --output-junit "$report" "$@" >&2 || status=$?
  count_tests "$report" "$counts" "$status"
}

# count_tests <junit file> <folder with the counts of suites> <exit code of ctest>: a run that left no report, or that failed
# without a failed test, counts as one failure.
count_tests() {
  local result
  result=$(awk -v counts="$2" -f scripts/lib/count_tests.awk "$1" 2>/dev/null)
  # shellcheck disable=SC2046
  set -- "$3" $(printf '%s\n' "$result" | sed -n 's/^total //p')
  passed=${2:-0} failed=${3:-0} skipped=${4:-0}
  printf '%s\n' "$result" | sed -n 's/^skipped /== skipped: /p' >&2
  if [ "$1" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
}

# summary <passed> <failed> [skipped]: the last line of a script.
summary() {
  printf '%s passed, %s failed, %s skipped\n' "$1" "$2" "${3:-0}"
  [ "$2" = 0 ]
}
