# Kills one rank of a run with checkpoints: the run ends with a status other than 0, and continues from its checkpoint.
# Arguments: MPIEXEC, the command that starts three ranks of PROGRAM; PROGRAM; FILE, the checkpoint.
file(REMOVE ${FILE})
execute_process(COMMAND ${MPIEXEC} ${PROGRAM} kill ${FILE} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(status EQUAL 0)
  message(FATAL_ERROR "a run whose rank 1 was killed ended with 0 and printed\n${out}")
endif()
execute_process(COMMAND ${MPIEXEC} ${PROGRAM} resume ${FILE} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(NOT status EQUAL 0 OR NOT out MATCHES "resumed at step 30, ended at step 50")
  message(FATAL_ERROR "the run that should continue at step 30 ended with ${status} and printed\n${out}")
endif()
