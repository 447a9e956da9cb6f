# The installed package: find_package(whittle [COMPONENTS evaluation telemetry logs durable storage_conformance
# host_conformance host_boundary spdlog http sqlite sealing]) and pkg-config whittle [whittle-http whittle-sqlite
# whittle-sealing].
include(CMakePackageConfigHelpers)

set(whittle_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/whittle")

install(
  TARGETS whittle whittle_json whittle_evaluation whittle_telemetry whittle_logs whittle_storage_conformance
          whittle_host_conformance whittle_host_boundary whittle_durable
  EXPORT whittleTargets FILE_SET HEADERS
)
install(TARGETS whittle_header_only EXPORT whittleTargets)
install(EXPORT whittleTargets NAMESPACE whittle:: DESTINATION "${whittle_config_dir}")

# No library: a host includes one behind its own headers.
list(TRANSFORM whittle_host_adapters PREPEND "${PROJECT_SOURCE_DIR}/")
install(FILES ${whittle_host_adapters} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/whittle/host")

# An export of its own: a machine without spdlog can still use the rest of the package.
if(TARGET whittle_spdlog)
  install(TARGETS whittle_spdlog EXPORT whittleSpdlogTargets FILE_SET HEADERS)
  install(EXPORT whittleSpdlogTargets NAMESPACE whittle:: DESTINATION "${whittle_config_dir}")
endif()

if(TARGET whittle_http)
  install(TARGETS whittle_http EXPORT whittleHttpTargets FILE_SET HEADERS)
  install(EXPORT whittleHttpTargets NAMESPACE whittle:: DESTINATION "${whittle_config_dir}")
endif()

if(TARGET whittle_sqlite)
  install(TARGETS whittle_sqlite EXPORT whittleSqliteTargets FILE_SET HEADERS)
  install(EXPORT whittleSqliteTargets NAMESPACE whittle:: DESTINATION "${whittle_config_dir}")
endif()

if(TARGET whittle_sealing)
  install(TARGETS whittle_sealing EXPORT whittleSealingTargets FILE_SET HEADERS)
  install(EXPORT whittleSealingTargets NAMESPACE whittle:: DESTINATION "${whittle_config_dir}")
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/WhittleSodium.cmake" DESTINATION "${whittle_config_dir}")
endif()

# Made now: a build that does not link it has not.
list(JOIN whittle_make_single_header "\" \"" make_single_header)
install(CODE "execute_process(COMMAND \"${make_single_header}\" COMMAND_ERROR_IS_FATAL ANY)")
install(FILES "${whittle_single_header}" DESTINATION "${whittle_single_header_destination}/whittle")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/whittleConfig.cmake.in" "${PROJECT_BINARY_DIR}/whittleConfig.cmake"
  INSTALL_DESTINATION "${whittle_config_dir}"
  NO_SET_AND_CHECK_MACRO
)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/whittleConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/whittleConfig.cmake" "${PROJECT_BINARY_DIR}/whittleConfigVersion.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/WhittleVocabulary.cmake" DESTINATION "${whittle_config_dir}")

# Relocatable: the prefix is written as the way up from the folder that holds whittle.pc.
set(whittle_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(whittle_pc_prefix "${CMAKE_INSTALL_PREFIX}")
  set(whittle_pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(whittle_pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
  file(RELATIVE_PATH whittle_pc_up "/prefix/${whittle_pc_dir}" "/prefix")
  string(REGEX REPLACE "/$" "" whittle_pc_up "${whittle_pc_up}")
  set(whittle_pc_prefix "\${pcfiledir}/${whittle_pc_up}")
  set(whittle_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(whittle_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/whittle.pc.in" "${PROJECT_BINARY_DIR}/whittle.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/whittle.pc" DESTINATION "${whittle_pc_dir}")
if(TARGET whittle_http)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/whittle-http.pc.in" "${PROJECT_BINARY_DIR}/whittle-http.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/whittle-http.pc" DESTINATION "${whittle_pc_dir}")
endif()

if(TARGET whittle_sqlite)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/whittle-sqlite.pc.in" "${PROJECT_BINARY_DIR}/whittle-sqlite.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/whittle-sqlite.pc" DESTINATION "${whittle_pc_dir}")
endif()

if(TARGET whittle_sealing)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/whittle-sealing.pc.in" "${PROJECT_BINARY_DIR}/whittle-sealing.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/whittle-sealing.pc" DESTINATION "${whittle_pc_dir}")
endif()

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(TARGET whittle_cli)
  install(TARGETS whittle_cli)
  if(TARGET whittle_cli_pages)
    install(FILES "${whittle_cli_pages}/whittle.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
    set(whittle_cli_shells "${CMAKE_INSTALL_DATADIR}")
    install(FILES "${whittle_cli_pages}/whittle.bash" RENAME whittle DESTINATION "${whittle_cli_shells}/bash-completion/completions")
    install(FILES "${whittle_cli_pages}/_whittle" DESTINATION "${whittle_cli_shells}/zsh/site-functions")
    install(FILES "${whittle_cli_pages}/whittle.fish" DESTINATION "${whittle_cli_shells}/fish/vendor_completions.d")
  endif()
endif()
