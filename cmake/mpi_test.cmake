# algoperf_mpi_test(name ranks label command...): a test that starts a command on several ranks. Open MPI refuses to run as
# root, and more ranks than cores, unless told otherwise.
set(algoperf_mpi_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
                             OMPI_MCA_rmaps_base_oversubscribe=1)
function(algoperf_mpi_test name ranks label)
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label} ENVIRONMENT "${algoperf_mpi_environment}" PROCESSORS 2)
endfunction()
