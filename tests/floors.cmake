# Checks every #include of the library against the table of floors (the layers of the architecture). Argument: SETTINGS.
#   A file includes only its own folder and lower floors, never another folder of its floor or a higher floor.
#   rules, nn, combine and loop include only the backend concept and the types that are passed to a backend: work,
#   ports, guards, the shape of a convolution. The group over NCCL alone uses the device of the CUDA backend, on whose
#   stream NCCL works.
#   Of the standard headers, files in light folders include only light_headers. The umbrella header, the workload of
#   examples/01_train.cpp, and all files that these include, include only umbrella_headers.
cmake_minimum_required(VERSION 3.24)
include(${SETTINGS})

set(floor_1 core)
set(floor_2 state)
set(floor_3 backend data schedules formats)
set(floor_4 rules nn combine)
set(floor_5 loop workloads scoring)
set(floor_6 report scaling compiled.hpp)
set(floor_7 tuning)
set(floor_8 benchmark)
foreach(floor RANGE 1 8)
  foreach(folder IN LISTS floor_${floor})
    set(floor_of_${folder} ${floor})
  endforeach()
endforeach()

set(light_folders core state rules schedules nn scaling)
set(light_headers # quick to compile, or needed everywhere
    algorithm array atomic bit cerrno cmath compare concepts cstddef cstdint cstdio cstdlib cstring exception
    initializer_list limits new numbers optional span stdexcept string string_view tuple type_traits utility vector
    version fcntl.h sys/file.h sys/mman.h sys/stat.h unistd.h)
set(umbrella_headers ${light_headers})
list(REMOVE_ITEM umbrella_headers algorithm)  # 6 % of the work of parsing the umbrella header
list(APPEND umbrella_headers typeinfo pthread.h sched.h signal.h time.h immintrin.h emmintrin.h arm_neon.h Eigen/Core)
set(algorithm_folders rules nn combine loop)
set(contracts_of_backend backend/concept.hpp backend/work.hpp backend/ports.hpp backend/guard.hpp backend/precision.hpp
    backend/half_ports.hpp backend/half_arrays.hpp backend/all_finite.hpp backend/attention.hpp backend/convolution.hpp
    backend/products/symmetric_product.hpp)

set(root ${INCLUDE_DIR}/algoperf)
set(faults "")
macro(fault where sentence)
  string(APPEND faults "\n  ${where}: ${sentence}")
endmacro()

# Lists every include directive of every file, as file:line:directive.
execute_process(COMMAND grep -rnE "^[[:space:]]*#[[:space:]]*include" . WORKING_DIRECTORY ${root} OUTPUT_VARIABLE lines)
string(REGEX MATCHALL "[^\n]+" lines "${lines}")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^\\./([^:]+):([0-9]+):.*([<\"])([^>\"]+)[>\"]")
    fault("${line}" "cannot be read as an #include")
    continue()
  endif()
  set(file ${CMAKE_MATCH_1})
  set(where include/algoperf/${file}:${CMAKE_MATCH_2})
  set(bracket ${CMAKE_MATCH_3})
  set(name ${CMAKE_MATCH_4})
  string(REGEX REPLACE "/.*" "" folder ${file})

  if(bracket STREQUAL "<")
    list(APPEND angled_of_${file} "${name}@${where}")
    if(name MATCHES "^algoperf/")
      fault(${where} "<${name}>: the library includes itself by relative, quoted paths")
    elseif(folder IN_LIST light_folders AND NOT name IN_LIST light_headers)
      fault(${where} "<${name}>: ${folder}/ may use only light standard headers (the list is in tests/floors.cmake)")
    endif()
    continue()
  endif()

  get_filename_component(target ${name} ABSOLUTE BASE_DIR ${root}/${file}/..)
  if(NOT EXISTS ${target})
    fault(${where} "\"${name}\" does not exist")
    continue()
  endif()
  file(RELATIVE_PATH target ${root} ${target})
  list(APPEND quoted_of_${file} ${target})
  string(REGEX REPLACE "/.*" "" other ${target})
  if(NOT DEFINED floor_of_${folder})
    if(NOT file STREQUAL "algoperf.hpp")
      fault(${where} "the folder ${folder} has no floor (the table is in tests/floors.cmake)")
    endif()
  elseif(NOT DEFINED floor_of_${other})
    fault(${where} "${target} has no floor (the table is in tests/floors.cmake)")
  elseif(NOT other STREQUAL folder AND NOT floor_of_${other} LESS floor_of_${folder})
    fault(${where} "${folder}/ (floor ${floor_of_${folder}}) may not include ${target} (floor ${floor_of_${other}})")
  elseif(file STREQUAL "combine/group/nccl.cuh" AND target STREQUAL "backend/cuda/device.cuh")
  elseif(other STREQUAL "backend" AND folder IN_LIST algorithm_folders AND NOT target IN_LIST contracts_of_backend)
    fault(${where} "${folder}/ may include backend/concept.hpp and the types passed to a backend, but not ${target}")
  endif()
endforeach()

# Checks everything that the umbrella header and the workload of examples/01_train.cpp include.
set(reached algoperf.hpp workloads/glyph_digits.hpp)
set(new ${reached})
while(new)
  list(POP_FRONT new file)
  foreach(angled IN LISTS angled_of_${file})
    string(REGEX MATCH "^[^@]+" name ${angled})
    string(REGEX REPLACE "^[^@]+@" "" where ${angled})
    if(NOT name IN_LIST umbrella_headers)
      fault(${where} "<${name}>: algoperf.hpp or workloads/glyph_digits.hpp includes this file, which may include only umbrella_headers")
    elseif(name MATCHES "^Eigen/" AND NOT file STREQUAL "backend/products/eigen_matrix.hpp")
      fault(${where} "<${name}>: the umbrella header may include Eigen only through backend/products/eigen_matrix.hpp")
    endif()
  endforeach()
  foreach(target IN LISTS quoted_of_${file})
    if(NOT target IN_LIST reached)
      list(APPEND reached ${target})
      list(APPEND new ${target})
    endif()
  endforeach()
endwhile()

# Every folder has a concept.hpp and an all.hpp.
file(GLOB folders LIST_DIRECTORIES ON RELATIVE ${root} ${root}/*)
foreach(folder IN LISTS folders)
  file(GLOB headers ${root}/${folder}/*.hpp)
  if(headers AND NOT folder MATCHES "^(core|state)$")
    foreach(face concept.hpp all.hpp)
      if(NOT EXISTS ${root}/${folder}/${face})
        fault(include/algoperf/${folder} "has no ${face}")
      endif()
    endforeach()
  endif()
endforeach()

if(faults)
  message(FATAL_ERROR "Includes violate the floors of the architecture:${faults}")
endif()
