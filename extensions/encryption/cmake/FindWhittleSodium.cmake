# sodium::sodium, where libsodium is: of the package of vcpkg or of Conan, else of a library and its header (libsodium itself
# installs a pkg-config file only). Installed with the package, which looks for it likewise.
if(NOT TARGET sodium::sodium)
  find_package(unofficial-sodium CONFIG QUIET) # vcpkg's
  find_package(libsodium CONFIG QUIET) # Conan's
  foreach(target IN ITEMS unofficial-sodium::sodium libsodium::libsodium)
    if(TARGET ${target} AND NOT TARGET sodium::sodium)
      add_library(sodium::sodium INTERFACE IMPORTED)
      set_target_properties(sodium::sodium PROPERTIES INTERFACE_LINK_LIBRARIES ${target})
    endif()
  endforeach()
endif()
if(NOT TARGET sodium::sodium)
  find_library(WHITTLE_SODIUM_LIBRARY sodium)
  find_path(WHITTLE_SODIUM_INCLUDE_DIR sodium.h)
  mark_as_advanced(WHITTLE_SODIUM_LIBRARY WHITTLE_SODIUM_INCLUDE_DIR)
  if(WHITTLE_SODIUM_LIBRARY AND WHITTLE_SODIUM_INCLUDE_DIR)
    add_library(sodium::sodium UNKNOWN IMPORTED)
    set_target_properties(
      sodium::sodium PROPERTIES IMPORTED_LOCATION "${WHITTLE_SODIUM_LIBRARY}"
                                INTERFACE_INCLUDE_DIRECTORIES "${WHITTLE_SODIUM_INCLUDE_DIR}"
    )
  endif()
endif()
if(TARGET sodium::sodium)
  set(WhittleSodium_FOUND TRUE)
endif()
