# Windows, from Debian: g++-mingw-w64-x86-64-posix, whose threads are those of POSIX, and wine64 for the tests. Packages for the
# target are looked for below CMAKE_FIND_ROOT_PATH (scripts/lib/header_packages.sh).
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
list(APPEND CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ZLIB_USE_STATIC_LIBS ON)
# A program then needs no DLL of the compiler beside it.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
find_program(WHITTLE_WINE NAMES wine64 wine PATHS /usr/lib/wine NO_CMAKE_FIND_ROOT_PATH)
if(WHITTLE_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${WHITTLE_WINE}")
endif()
