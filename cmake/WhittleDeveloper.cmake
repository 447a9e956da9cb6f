# Conveniences for work on whittle itself; included only when it is the top-level project.

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(WHITTLE_CCACHE ccache)
  mark_as_advanced(WHITTLE_CCACHE)
  if(WHITTLE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${WHITTLE_CCACHE}")
  endif()
endif()

# g++ looks for what it can throw away before it holds 128 MB: an eighth of the time of a build. It may hold a GB. When it
# optimises, g++ 12 warns of members of the standard library.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=1048576 -Wno-maybe-uninitialized)
endif()

# clang 15 and newer tells of what algorithms of libstdc++ 12 call themselves.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-deprecated-declarations)
endif()
