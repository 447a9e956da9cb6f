# The installed package: find_package(whittle [COMPONENTS <extensions>]), pkg-config whittle and whittle-<extension>.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME whittle_development)

set(whittle_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/whittle")
install(TARGETS whittle EXPORT whittleTargets FILE_SET HEADERS)
install(TARGETS whittle_header_only EXPORT whittleTargets)

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

# Each extension. One that needs a library has an export of its own, so that a machine without that library can still use
# the rest of the package.
set(whittle_config_components "")
foreach(name IN LISTS whittle_extensions)
  foreach(key IN ITEMS NEEDS PACKAGE PKGCONFIG DESCRIPTION LINKS)
    get_property(${key} GLOBAL PROPERTY whittle_${key}_of_${name})
  endforeach()
  # For pkg-config. What needs a library that has no module there has none either.
  if(PKGCONFIG OR NOT NEEDS)
    list(TRANSFORM LINKS REPLACE "(.+)" "whittle-\\1 = ${PROJECT_VERSION}" OUTPUT_VARIABLE requires)
    list(PREPEND requires "whittle = ${PROJECT_VERSION}")
    list(JOIN requires ", " requires)
    if(PKGCONFIG)
      string(APPEND requires ", ${PKGCONFIG}")
    endif()
    get_target_property(type whittle_${name} TYPE)
    set(libs)
    if(type STREQUAL "STATIC_LIBRARY")
      set(libs "-L\${libdir} -lwhittle_${name}")
    endif()
    configure_file("${PROJECT_SOURCE_DIR}/cmake/whittle-component.pc.in" "${PROJECT_BINARY_DIR}/whittle-${name}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/whittle-${name}.pc" DESTINATION "${whittle_pc_dir}")
  endif()
  if(NOT NEEDS)
    install(TARGETS whittle_${name} EXPORT whittleTargets FILE_SET HEADERS)
    string(APPEND whittle_config_components "set(whittle_${name}_FOUND TRUE)\n")
    continue()
  endif()
  string(SUBSTRING "${name}" 0 1 first)
  string(SUBSTRING "${name}" 1 -1 rest)
  string(TOUPPER "${first}" first)
  set(export "whittle${first}${rest}Targets")
  install(TARGETS whittle_${name} EXPORT ${export} FILE_SET HEADERS)
  install(EXPORT ${export} NAMESPACE whittle:: DESTINATION "${whittle_config_dir}")
  list(JOIN PACKAGE " " PACKAGE)
  string(APPEND whittle_config_components "whittle_load(${name} ${export} ${NEEDS} ${PACKAGE})\n")
endforeach()
install(EXPORT whittleTargets NAMESPACE whittle:: DESTINATION "${whittle_config_dir}")

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
file(GLOB find_modules "${PROJECT_SOURCE_DIR}/extensions/*/cmake/Find*.cmake")
install(FILES ${find_modules} DESTINATION "${whittle_config_dir}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/whittle.pc.in" "${PROJECT_BINARY_DIR}/whittle.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/whittle.pc" DESTINATION "${whittle_pc_dir}")

# As in the repository, so that links between the pages lead somewhere.
# Each page on its own: install(DIRECTORY) makes the folders without pages too, and packages have no empty ones.
file(
  GLOB_RECURSE pages CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/docs/*.md" "${PROJECT_SOURCE_DIR}/docs/*.svg" "${PROJECT_SOURCE_DIR}/extensions/*.md"
  "${PROJECT_SOURCE_DIR}/extensions/*.svg" "${PROJECT_SOURCE_DIR}/tool/docs/*.md"
)
list(FILTER pages EXCLUDE REGEX "^(docs/site|extensions/.*/(include|src|tests|fuzz))/")
file(GLOB more_pages CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/bench/*.md"
     "${PROJECT_SOURCE_DIR}/packaging/*.md")
foreach(page IN ITEMS LICENSE NOTICE README.md CHANGELOG.md SECURITY.md CONTRIBUTING.md ${pages} ${more_pages})
  cmake_path(GET page PARENT_PATH folder)
  install(FILES "${PROJECT_SOURCE_DIR}/${page}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}")
endforeach()
if(TARGET whittle_cli)
  set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME whittle_tool)
  install(TARGETS whittle_cli)
  if(TARGET whittle_cli_pages)
    install(FILES "${whittle_cli_pages}/whittle.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
    set(whittle_cli_shells "${CMAKE_INSTALL_DATADIR}")
    install(FILES "${whittle_cli_pages}/whittle.bash" RENAME whittle DESTINATION "${whittle_cli_shells}/bash-completion/completions")
    install(FILES "${whittle_cli_pages}/_whittle" DESTINATION "${whittle_cli_shells}/zsh/site-functions")
    install(FILES "${whittle_cli_pages}/whittle.fish" DESTINATION "${whittle_cli_shells}/fish/vendor_completions.d")
  endif()
endif()
if(PROJECT_IS_TOP_LEVEL)
  include(WhittlePackages)
endif()
