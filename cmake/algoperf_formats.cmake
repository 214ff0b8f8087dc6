# Defines algoperf::formats if nlohmann-json, xtensor and libzip are found. libzip is found by its files, because some
# packages of its CMake configuration require programs that are separate packages.
if(NOT TARGET algoperf::formats)
  find_package(nlohmann_json QUIET)
  find_package(xtensor QUIET)
  find_path(ALGOPERF_ZIP_INCLUDE_DIR zip.h)
  find_library(ALGOPERF_ZIP_LIBRARY zip)
  if(nlohmann_json_FOUND AND xtensor_FOUND AND ALGOPERF_ZIP_INCLUDE_DIR AND ALGOPERF_ZIP_LIBRARY)
    add_library(algoperf::formats INTERFACE IMPORTED GLOBAL)
    target_include_directories(algoperf::formats INTERFACE ${ALGOPERF_ZIP_INCLUDE_DIR})
    target_link_libraries(algoperf::formats INTERFACE algoperf::algoperf nlohmann_json::nlohmann_json xtensor
                                                      ${ALGOPERF_ZIP_LIBRARY})
  elseif(NOT algoperf_FIND_QUIETLY)
    message(STATUS "algoperf: no formats component (nlohmann-json, xtensor or libzip was not found)")
  endif()
endif()
