# whittle_extension(<name>): an extension is a folder of extensions/ with include/whittle/<name>/, src/, tests/, examples/,
# fuzz/ and this line in its CMakeLists.txt. It becomes whittle::<name>, an installed component of that name. Of one without
# sources, headers are all.
#   DEPENDS <extensions>  that it links: it is left out where one of them is
#   WITH <extensions>     whose headers it may name, where they are
#   LINK <libraries>      that reach only the linker
#   NEEDS <target>        of a library that reaches only the linker: it is left out where there is none, or WHITTLE_<NAME> is
#                         off. PACKAGE: the arguments of find_package for it, CALLED: as people call it, PKGCONFIG: its module
#   DESCRIPTION <text>    for pkg-config
#   EXAMPLES <libraries>  that its examples link
#   TESTS <arguments>     of whittle_add_suite for its tests: all that follows
#   HOT                   tests spend their time in it: optimised where nothing else is
#   HIDDEN                what it links reaches the linker only; a header is C++17
#   UNVERIFIED            its headers need a host's
# A host that does not install builds one if it links it.
function(whittle_extension name)
  set(own "${ARGN}")
  set(of_tests)
  list(FIND own TESTS at)
  if(NOT at EQUAL -1)
    list(SUBLIST own ${at} -1 of_tests)
    list(SUBLIST own 0 ${at} own)
    list(POP_FRONT of_tests)
  endif()
  cmake_parse_arguments(
    arg "HOT;HIDDEN;UNVERIFIED" "NEEDS;CALLED;PKGCONFIG;DESCRIPTION" "DEPENDS;WITH;LINK;PACKAGE;EXAMPLES" ${own}
  )
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "whittle_extension(${name}): unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  string(TOUPPER "${name}" upper)
  if(DEFINED WHITTLE_${upper} AND NOT WHITTLE_${upper})
    message(STATUS "whittle::${name} is left out: WHITTLE_${upper} is off")
    return()
  elseif(arg_NEEDS AND NOT TARGET ${arg_NEEDS})
    message(STATUS "whittle::${name} is left out: there is no ${arg_CALLED} here")
    return()
  endif()
  set(public whittle)
  foreach(other IN LISTS arg_DEPENDS arg_WITH)
    whittle_load_extension(${other})
    if(TARGET whittle_${other})
      list(APPEND public whittle_${other})
    elseif(other IN_LIST arg_DEPENDS)
      message(STATUS "whittle::${name} is left out: there is no whittle::${other}")
      return()
    endif()
  endforeach()

  set(target whittle_${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS include/*.hpp)
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(${target} PRIVATE fmt::fmt ${arg_NEEDS} ${arg_LINK})
    whittle_set_warnings(${target})
    whittle_compile_by_folder(${target})
    if(arg_HOT)
      target_compile_options(${target} PRIVATE ${WHITTLE_HOT_FLAGS})
    elseif(arg_DEPENDS)
      whittle_reuse_precompiled(${target} whittle_json_headers)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
    list(APPEND public ${arg_NEEDS})
  endif()
  add_library(whittle::${name} ALIAS ${target})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${CMAKE_CURRENT_SOURCE_DIR}/include" FILES ${headers})
  if(arg_HIDDEN)
    target_link_libraries(${target} PRIVATE ${public})
    target_compile_features(${target} PUBLIC cxx_std_17)
  else()
    target_link_libraries(${target} ${scope} ${public})
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(arg_UNVERIFIED)
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS OFF)
  endif()
  if(sources AND NOT WHITTLE_INSTALL)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()

  set_property(GLOBAL APPEND PROPERTY whittle_extensions ${name})
  foreach(key IN ITEMS NEEDS PACKAGE PKGCONFIG DESCRIPTION EXAMPLES)
    set_property(GLOBAL PROPERTY whittle_${key}_of_${name} "${arg_${key}}")
  endforeach()
  set_property(GLOBAL PROPERTY whittle_TESTS_of_${name} "${of_tests}")
endfunction()

# whittle_load_extension(<name>): the extension of that name and those it depends on, once; nothing where there is none.
function(whittle_load_extension name)
  get_property(loaded GLOBAL PROPERTY whittle_loaded_${name})
  set(folder "${PROJECT_SOURCE_DIR}/extensions/${name}")
  if(NOT loaded AND EXISTS "${folder}/CMakeLists.txt")
    set_property(GLOBAL PROPERTY whittle_loaded_${name} ON)
    add_subdirectory("${folder}" "${PROJECT_BINARY_DIR}/extensions/${name}")
  endif()
endfunction()

file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES TRUE "${PROJECT_SOURCE_DIR}/extensions/*")
foreach(folder IN LISTS folders)
  cmake_path(GET folder FILENAME name)
  whittle_load_extension(${name})
endforeach()
get_property(whittle_extensions GLOBAL PROPERTY whittle_extensions)

# All that stands on JSON messages, for programs that want it together.
add_library(whittle_json INTERFACE)
add_library(whittle::json ALIAS whittle_json)
set_target_properties(whittle_json PROPERTIES EXPORT_NAME json)
target_link_libraries(whittle_json INTERFACE whittle)
foreach(name IN ITEMS provider openai anthropic convert saved config condensing tiktoken)
  if(TARGET whittle_${name})
    target_link_libraries(whittle_json INTERFACE whittle_${name})
  endif()
endforeach()
