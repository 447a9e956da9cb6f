# The files of the core, relative to PROJECT_SOURCE_DIR: whittle_sources, whittle_headers and whittle_private_headers (those
# of src/). Scripts include it too. They are globbed with CONFIGURE_DEPENDS: the build looks again whenever it runs.
set(whittle_look_again CONFIGURE_DEPENDS)
if(CMAKE_SCRIPT_MODE_FILE)
  set(whittle_look_again)
endif()

# whittle_glob(<variable> <pattern>)
function(whittle_glob variable pattern)
  file(GLOB_RECURSE found RELATIVE "${PROJECT_SOURCE_DIR}" ${whittle_look_again} "${PROJECT_SOURCE_DIR}/${pattern}")
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

whittle_glob(whittle_sources "src/*.cpp")
whittle_glob(whittle_private_headers "src/*.hpp")
whittle_glob(whittle_headers "include/whittle/*.hpp")
