# cpack runs it before it packs CPACK_TEMPORARY_DIRECTORY: each package gets the file `copyright`, with the texts of the libraries
# that are compiled into it as Debian has them, and all files the date of SOURCE_DATE_EPOCH, so that the same tree gives the
# same bytes of Debian's packages; scripts/release packs the archive anew.
get_filename_component(source "${CPACK_RESOURCE_FILE_LICENSE}" DIRECTORY)
set(in_whittle_development libfmt-dev nlohmann-json3-dev)
set(in_whittle_tool ${in_whittle_development} libcli11-dev)

# write_copyright(<file> <packages of Debian>)
function(write_copyright file)
  set(text)
  foreach(path IN ITEMS "${source}/NOTICE" "${source}/LICENSE")
    file(READ "${path}" part)
    string(APPEND text "${part}\n")
  endforeach()
  foreach(package IN LISTS ARGN)
    if(EXISTS "/usr/share/doc/${package}/copyright")
      file(READ "/usr/share/doc/${package}/copyright" part)
      string(APPEND text "${package}:\n\n${part}\n")
    endif()
  endforeach()
  file(WRITE "${file}" "${text}")
endfunction()

if(CPACK_GENERATOR STREQUAL "DEB")
  foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER "${component}" upper)
    set(name "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    write_copyright("${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share/doc/${name}/copyright" ${in_${component}})
  endforeach()
else()
  write_copyright("${CPACK_TEMPORARY_DIRECTORY}/share/doc/${CPACK_PACKAGE_NAME}/copyright" ${in_whittle_tool})
endif()
# Whatever the builder's umask is.
execute_process(COMMAND find "${CPACK_TEMPORARY_DIRECTORY}" -exec chmod u=rwX,go=rX {} + COMMAND_ERROR_IS_FATAL ANY)
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(
    COMMAND find "${CPACK_TEMPORARY_DIRECTORY}" -exec touch -h -d "@$ENV{SOURCE_DATE_EPOCH}" {} +
    COMMAND_ERROR_IS_FATAL ANY
  )
endif()
