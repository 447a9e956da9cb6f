# Shared by the consumers, which differ only in how they get whittle.
add_executable(consumer ../main.cpp ../other.cpp ../json.cpp)
target_link_libraries(consumer PRIVATE whittle::whittle whittle::json)
set_target_properties(consumer PROPERTIES UNITY_BUILD OFF) # several translation units are the point

# A host's flags stay its own: nothing but the include directories, C++20 and the libraries reaches it.
get_target_property(options whittle::whittle INTERFACE_COMPILE_OPTIONS)
if(options)
  message(FATAL_ERROR "whittle::whittle forces compile options on its host: ${options}")
endif()
foreach(name BUILD_TESTS BUILD_EXAMPLES BUILD_APPS BUILD_BENCH BUILD_FUZZ)
  if(DEFINED WHITTLE_${name} AND WHITTLE_${name})
    message(FATAL_ERROR "WHITTLE_${name} is on by default in a host project")
  endif()
endforeach()
