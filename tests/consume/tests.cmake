# What each of the three projects runs: the program, and benchmarks where Google Benchmark is there.
enable_testing()
add_test(NAME consume COMMAND consume)
if(TARGET algoperf::benchmark)
  add_executable(consume_benchmark ${CMAKE_CURRENT_LIST_DIR}/benchmark.cpp)
  target_link_libraries(consume_benchmark PRIVATE algoperf::benchmark)
  add_test(NAME consume_benchmark COMMAND consume_benchmark --benchmark_filter=optimizer_step)
  set_tests_properties(consume_benchmark PROPERTIES PASS_REGULAR_EXPRESSION "optimizer_step/adamw/Host<>/1024")
endif()
