# cpack runs it before it packs CPACK_TEMPORARY_DIRECTORY: Debian's packages get the file `copyright` that each has, and all files the
# date of SOURCE_DATE_EPOCH, so that the same tree gives the same bytes.
if(CPACK_GENERATOR STREQUAL "DEB")
  get_filename_component(source "${CPACK_RESOURCE_FILE_LICENSE}" DIRECTORY)
  file(READ "${source}/LICENSE" licence)
  file(READ "${source}/NOTICE" notice)
  foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER "${component}" upper)
    file(WRITE "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}/copyright" "${notice}\n${licence}")
  endforeach()
endif()
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(
    COMMAND find "${CPACK_TEMPORARY_DIRECTORY}" -exec touch -h -d "@$ENV{SOURCE_DATE_EPOCH}" {} +
    COMMAND_ERROR_IS_FATAL ANY
  )
endif()
