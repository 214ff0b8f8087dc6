# Settings for this project's own libraries, tests, examples and benchmarks. They are never applied to a user's targets.

set(ALGOPERF_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor
                      -Wold-style-cast -Wcast-align -Woverloaded-virtual)

function(algoperf_warnings target)
  target_compile_options(${target} PRIVATE ${ALGOPERF_WARNINGS})
  set_target_properties(${target} PROPERTIES COMPILE_WARNING_AS_ERROR ${ALGOPERF_WERROR})
endfunction()

function(algoperf_own_target target)
  algoperf_warnings(${target})
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  if(ALGOPERF_NATIVE)
    target_compile_options(${target} PRIVATE -march=native)
  endif()
  # By default, g++ searches its memory for garbage so often that large files take 1.2 times as long to compile. With this
  # option, g++ searches only after it has allocated 4 GB.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=4194304)
  endif()
  # GCC 12 gives false warnings in system headers: for the undefined vectors of avx512fintrin.h that Eigen inlines, for
  # overlapping copies in std::string's operator+ (GCC bug 105651), and for the fill characters of fmt's formats.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-uninitialized -Wno-restrict
                                             -Wno-stringop-overflow)
  endif()
endfunction()

# For examples and benchmarks: a sanitizer build compiles them only for their warnings and does not run them. Call it
# last.
function(algoperf_not_sanitized target)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    target_compile_options(${target} PRIVATE -O0 -g0 -fno-sanitize=all -fsyntax-only)
    set(launch "sh ${PROJECT_SOURCE_DIR}/cmake/compile_only.sh")
    set_target_properties(${target} PROPERTIES RULE_LAUNCH_COMPILE "${launch} <OBJECT>" RULE_LAUNCH_LINK "${launch} <TARGET>")
  endif()
endfunction()
