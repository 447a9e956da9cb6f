if(CMAKE_VERSION VERSION_LESS 3.25)
  message(FATAL_ERROR "CMake 3.25 or newer is needed")
endif()
