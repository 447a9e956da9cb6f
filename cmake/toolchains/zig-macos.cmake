# macOS without a Mac: zig (PyPI's ziglang), a clang with macOS's headers and libc++, and the archiver of LLVM. Compiles and links;
# the programs run on no other system. Packages are looked for below CMAKE_FIND_ROOT_PATH (scripts/lib/header_packages.sh).
find_program(WHITTLE_ZIG zig REQUIRED NO_CMAKE_FIND_ROOT_PATH DOC "The program zig")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WHITTLE_ZIG)
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_CXX_COMPILER "${WHITTLE_ZIG}" c++ -target aarch64-macos)
set(CMAKE_C_COMPILER "${WHITTLE_ZIG}" cc -target aarch64-macos)
find_program(CMAKE_AR NAMES llvm-ar llvm-ar-19 REQUIRED NO_CMAKE_FIND_ROOT_PATH)
find_program(CMAKE_RANLIB NAMES llvm-ranlib llvm-ranlib-19 REQUIRED NO_CMAKE_FIND_ROOT_PATH)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
