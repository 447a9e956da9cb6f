# whittle::header_only: all of whittle::whittle in one header, <whittle/whittle.hpp>, which one .cpp file of the program
# includes behind `#define WHITTLE_IMPLEMENTATION`. The header is made when something that links the target is built.
set(whittle_single_header_dir "${PROJECT_BINARY_DIR}/header_only")
set(whittle_single_header "${whittle_single_header_dir}/whittle/whittle.hpp")
set(
  whittle_make_single_header
    "${CMAKE_COMMAND}" "-DOUT=${whittle_single_header}" -P "${PROJECT_SOURCE_DIR}/cmake/make_single_header.cmake"
)

set(parts ${whittle_headers} ${whittle_private_headers} ${whittle_sources})
list(TRANSFORM parts PREPEND "${PROJECT_SOURCE_DIR}/")
add_custom_command(
  OUTPUT "${whittle_single_header}"
  COMMAND ${whittle_make_single_header}
  DEPENDS ${parts} "${PROJECT_SOURCE_DIR}/cmake/make_single_header.cmake" "${PROJECT_SOURCE_DIR}/cmake/WhittleFiles.cmake"
  COMMENT "Making the single header of whittle"
  VERBATIM
)
add_custom_target(whittle_single_header DEPENDS "${whittle_single_header}")

add_library(whittle_header_only INTERFACE)
add_library(whittle::header_only ALIAS whittle_header_only)
set_target_properties(whittle_header_only PROPERTIES EXPORT_NAME header_only)
add_dependencies(whittle_header_only whittle_single_header)
# Not among the package's own headers, which have a whittle/whittle.hpp too.
set(whittle_single_header_destination "${CMAKE_INSTALL_INCLUDEDIR}/whittle-header-only")
target_include_directories(
  whittle_header_only
  INTERFACE "$<BUILD_INTERFACE:${whittle_single_header_dir}>" "$<INSTALL_INTERFACE:${whittle_single_header_destination}>"
)
target_compile_features(whittle_header_only INTERFACE cxx_std_20)
target_link_libraries(whittle_header_only INTERFACE Threads::Threads fmt::fmt nlohmann_json::nlohmann_json)
