# Writes a file that compiles several programs as one, so that what they share is compiled once: first the includes of all
# of them, then each program in a namespace of its own, then an empty main. The programs' own lines of #include then have
# no effect, because headers have #pragma once; they must be unconditional. A program that lacks an #include still
# compiles if another program has it, and sees the macros of earlier programs.
function(algoperf_one_file output)  # programs...
  set(includes "")
  set(bodies "")
  foreach(program IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${program})
    cmake_path(GET program PARENT_PATH folder)
    file(STRINGS ${program} lines REGEX "^#include ")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"" "#include \"${folder}/" line "${line}")
      string(APPEND includes "${line}\n")
    endforeach()
    list(FIND ARGN ${program} index)
    string(APPEND bodies "namespace program_${index} {\n#include \"${program}\"\n}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "${includes}${bodies}int main() {}\n" @ONLY)
endfunction()
