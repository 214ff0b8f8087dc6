# Precompiles the headers that alone.cmake includes first. Arguments: SETTINGS, ROOTS (headers).
cmake_minimum_required(VERSION 3.24)
include(${SETTINGS})
separate_arguments(ROOTS)
foreach(root IN LISTS ROOTS)
  set(header ${BINARY_DIR}/headers/${root})
  file(WRITE ${header} "#include <algoperf/${root}>\n")
  execute_process(COMMAND ${COMPILER} ${FLAGS} ${WARNINGS} -x c++-header ${header} -o ${header}.gch COMMAND_ERROR_IS_FATAL ANY)
endforeach()
