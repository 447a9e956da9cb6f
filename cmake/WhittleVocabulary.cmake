# whittle_embed_vocabulary(<target> <NAME> FILE <packed file>)
#
# Puts a packed vocabulary (what `whittle vocab install NAME` writes) into <target>, which then may
#
#   #include "whittle_vocabulary_<NAME>.hpp"
#   auto vocabulary = whittle_vocabulary::<NAME>();   // std::shared_ptr<const whittle::Vocabulary>
#
# Nothing is copied at run time: the table is read-only data of the program, or of the library <target> is. For gcc and
# clang with an ELF or Mach-O assembler (.incbin).
function(whittle_embed_vocabulary target name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "FILE" "")
  if(NOT arg_FILE OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "whittle_embed_vocabulary(<target> <NAME> FILE <packed file>)")
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "whittle_embed_vocabulary: ${name} is no C++ name")
  endif()
  if(NOT TARGET whittle::tiktoken)
    message(FATAL_ERROR "whittle_embed_vocabulary: there is no target whittle::tiktoken")
  endif()
  get_filename_component(file "${arg_FILE}" ABSOLUTE)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "whittle_embed_vocabulary: no ${file}; `whittle vocab install ${name} --to DIR` makes it")
  endif()

  set(dir "${CMAKE_CURRENT_BINARY_DIR}/whittle_vocabulary/${target}")
  set(symbol "whittle_vocabulary_${name}_bytes")
  file(CONFIGURE OUTPUT "${dir}/whittle_vocabulary_${name}.hpp" @ONLY CONTENT [=[
#pragma once

#include <whittle/tiktoken/vocabulary.hpp>

#include <memory>

namespace whittle_vocabulary {

/// The vocabulary that the program carries; opened at the first call. Thread-safe.
std::shared_ptr<const whittle::Vocabulary> @name@();

}  // namespace whittle_vocabulary
]=])
  file(CONFIGURE OUTPUT "${dir}/whittle_vocabulary_${name}.cpp" @ONLY CONTENT [=[
#include "whittle_vocabulary_@name@.hpp"

#if defined(__APPLE__)
#    define WHITTLE_SECTION ".const_data"
#    define WHITTLE_SYMBOL(name) "_" name
#else
#    define WHITTLE_SECTION ".section .rodata"
#    define WHITTLE_SYMBOL(name) name
#endif

__asm__(WHITTLE_SECTION
        "\n.balign 64\n"
        ".globl " WHITTLE_SYMBOL("@symbol@") "\n" WHITTLE_SYMBOL("@symbol@") ":\n"
        ".incbin \"@file@\"\n"
        ".globl " WHITTLE_SYMBOL("@symbol@_end") "\n" WHITTLE_SYMBOL("@symbol@_end") ":\n"
        ".byte 0\n"
        ".text\n");

extern "C" const unsigned char @symbol@[];
extern "C" const unsigned char @symbol@_end[];

std::shared_ptr<const whittle::Vocabulary> whittle_vocabulary::@name@() {
    static const auto vocabulary =
        whittle::Vocabulary::from_static({@symbol@, static_cast<std::size_t>(@symbol@_end - @symbol@)});
    return vocabulary;
}
]=])
  set_source_files_properties("${dir}/whittle_vocabulary_${name}.cpp" PROPERTIES OBJECT_DEPENDS "${file}")
  target_sources(${target} PRIVATE "${dir}/whittle_vocabulary_${name}.cpp")
  target_include_directories(${target} PRIVATE "${dir}")
  target_link_libraries(${target} PRIVATE whittle::tiktoken)
endfunction()
