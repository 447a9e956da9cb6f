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
