# Checks that object files of algoperf::gemm that are compiled for one instruction set define no function that the linker
# could use in code for another processor: inline functions of the standard library, for example. Arguments: OBJECTS,
# INSTRUCTION_SET.
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND nm -C --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  if(NOT symbols MATCHES "algoperf_for_${INSTRUCTION_SET}::")
    message(FATAL_ERROR "${object} contains nothing for ${INSTRUCTION_SET}")
  endif()
  string(REGEX MATCHALL "[0-9a-f]+ [TWVu] [^\n]+" shared "${symbols}")
  list(FILTER shared EXCLUDE REGEX "(algoperf_for_|EigenOfAlgoperf_)${INSTRUCTION_SET}::|__gxx_personality_v0")
  if(shared)
    list(JOIN shared "\n  " shared)
    message(FATAL_ERROR "${object} defines\n  ${shared}")
  endif()
endforeach()
