# Installs the headers and a package: find_package(algoperf COMPONENTS zlib images report formats benchmark thrust cuda
# nccl gemm).
# Each component has its own export, so that a project needs the packages of the components that it requests only.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/algoperf)

install(DIRECTORY include/algoperf ${ALGOPERF_MOVED_DIR}/algoperf TYPE INCLUDE FILES_MATCHING REGEX "\\.(hpp|cuh)$")
install(TARGETS algoperf EXPORT algoperf-core)
install(EXPORT algoperf-core NAMESPACE algoperf:: DESTINATION ${package_dir})
foreach(component IN LISTS algoperf_components)
  install(TARGETS algoperf_${component} EXPORT algoperf-${component})
  install(EXPORT algoperf-${component} NAMESPACE algoperf:: DESTINATION ${package_dir})
endforeach()

configure_package_config_file(cmake/algoperfConfig.cmake.in algoperfConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(algoperfConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/algoperfConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/algoperfConfigVersion.cmake
              cmake/algoperf_formats.cmake cmake/algoperf_thrust.cmake cmake/algoperf_cuda.cmake
              cmake/algoperf_nccl.cmake DESTINATION ${package_dir})
