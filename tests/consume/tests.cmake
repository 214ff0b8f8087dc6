# The tests of each of the three projects: the program, and benchmarks if Google Benchmark is found.
enable_testing()
add_test(NAME consume COMMAND consume)
if(TARGET algoperf::benchmark)
  add_executable(consume_benchmark ${CMAKE_CURRENT_LIST_DIR}/benchmark.cpp)
  target_link_libraries(consume_benchmark PRIVATE algoperf::benchmark)
  add_test(
    NAME consume_benchmark
    COMMAND
      ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:consume_benchmark> -DOUT=${CMAKE_CURRENT_BINARY_DIR}/benchmark.json
      "-DNAMES=^optimizer_step/adamw/Host<>/1024/;^optimizer_step/adamw/Host<>/4096/;/repeats:2/manual_time_median$"
      -DREACHED=^time_to_target/easy/ -DMISSED=^time_to_target/hard/ -P ${CMAKE_CURRENT_LIST_DIR}/../benchmark/report.cmake)
endif()
