# hiredis::hiredis and, where it has TLS, hiredis::hiredis_ssl: of its own packages (1.0 and newer), else of a library and
# its headers (Debian's 0.14 has a pkg-config file only). Installed with the package, which looks for them likewise.
find_package(hiredis CONFIG QUIET)
if(TARGET hiredis::hiredis)
  find_package(hiredis_ssl CONFIG QUIET)
else()
  find_library(WHITTLE_HIREDIS_LIBRARY hiredis)
  find_path(WHITTLE_HIREDIS_INCLUDE_DIR hiredis/hiredis.h)
  mark_as_advanced(WHITTLE_HIREDIS_LIBRARY WHITTLE_HIREDIS_INCLUDE_DIR)
  if(WHITTLE_HIREDIS_LIBRARY AND WHITTLE_HIREDIS_INCLUDE_DIR)
    add_library(hiredis::hiredis UNKNOWN IMPORTED)
    set_target_properties(
      hiredis::hiredis PROPERTIES IMPORTED_LOCATION "${WHITTLE_HIREDIS_LIBRARY}"
                                  INTERFACE_INCLUDE_DIRECTORIES "${WHITTLE_HIREDIS_INCLUDE_DIR}"
    )
  endif()
endif()
if(TARGET hiredis::hiredis)
  set(WhittleHiredis_FOUND TRUE)
endif()
