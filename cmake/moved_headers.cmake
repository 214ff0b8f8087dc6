# Generates a forwarding header for each line `old new` of moved_headers.txt, so that programs that include a header by its
# old path still find it, with a note that names the new path. Renamed types and functions have no aliases. A recipe that moved beside its stage needs chain(...), too.
set(ALGOPERF_MOVED_DIR ${PROJECT_BINARY_DIR}/moved)
file(STRINGS cmake/moved_headers.txt lines)
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([^ ]+) ([^ ]+)$" matched "${line}")
  if(NOT matched)
    message(FATAL_ERROR "cmake/moved_headers.txt: '${line}' is not `old new`")
  endif()
  set(old ${CMAKE_MATCH_1})
  set(new ${CMAKE_MATCH_2})
  set(chain "")
  if(old MATCHES "^rules/[a-z_]+\\.hpp$" AND new MATCHES "^rules/stages/")
    set(chain "#include <algoperf/rules/chain/chain.hpp>\n")
  endif()
  file(CONFIGURE OUTPUT ${ALGOPERF_MOVED_DIR}/algoperf/${old} CONTENT [[#pragma once
#pragma message("algoperf/@old@ has moved: include algoperf/@new@")
@chain@#include <algoperf/@new@>
]] @ONLY)
endforeach()
