# Precompiles the header that check.cmake includes before each file. Arguments: SETTINGS.
cmake_minimum_required(VERSION 3.24)
include(${SETTINGS})
set(header ${BINARY_DIR}/compile_fail/precompiled.hpp)
file(WRITE ${header} "#include <algoperf/algoperf.hpp>\n")
execute_process(COMMAND ${COMPILER} ${FLAGS} -x c++-header ${header} -o ${header}.gch COMMAND_ERROR_IS_FATAL ANY)
