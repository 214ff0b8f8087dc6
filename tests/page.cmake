# Tests that the C++ blocks of a page of docs/ compile, each in its own scope after the declarations that the pages
# assume (docs/training.md lists them) and the headers that they include. Blocks that begin with `struct` are declared
# before main. Blocks after a line <!-- program: name --> are complete programs, which tests/tutorial compiles and runs,
# and those after a line <!-- examples/X.cpp --> quote an example. Arguments: SETTINGS, PAGE (a file of docs/ without
# .md), LEAST (the number of blocks that the page has at least).
cmake_minimum_required(VERSION 3.24)
include(${SETTINGS})
get_filename_component(page "${CMAKE_CURRENT_LIST_DIR}/../docs/${PAGE}.md" ABSOLUTE)
file(READ "${page}" rest)
set(fence "```")
set(includes "")
set(types "")
set(statements "")
set(count 0)
string(FIND "${rest}" "${fence}cpp\n" begin)
while(NOT begin EQUAL -1)
  string(SUBSTRING "${rest}" 0 ${begin} before)
  math(EXPR begin "${begin} + 7")
  string(SUBSTRING "${rest}" ${begin} -1 rest)
  string(FIND "${rest}" "${fence}" end)
  string(SUBSTRING "${rest}" 0 ${end} code)
  string(SUBSTRING "${rest}" ${end} -1 rest)
  if(NOT before MATCHES "<!-- (program: |examples/)[a-z0-9_.]+ -->\n$")
    string(REGEX MATCHALL "#include [^\n]+\n" found "${code}")
    string(APPEND includes ${found})
    string(REGEX REPLACE "#include [^\n]+\n\n?" "" code "${code}")
    if(code MATCHES "^struct ")
      string(APPEND types "${code}")
    else()
      string(APPEND statements "{\n${code}}\n")
    endif()
    math(EXPR count "${count} + 1")
  endif()
  string(FIND "${rest}" "${fence}cpp\n" begin)
endwhile()
if(count LESS LEAST)
  message(FATAL_ERROR "docs/${PAGE}.md: found ${count} C++ blocks, expected at least ${LEAST}")
endif()

set(source ${BINARY_DIR}/${PAGE}_page.cpp)
file(WRITE ${source} "#include <algoperf/algoperf.hpp>
#include <algoperf/data/translation_fields.hpp>
#include <algoperf/nn/beam_search.hpp>
#include <cstdio>
${includes}namespace ap = algoperf;
${types}
int main() {
  const auto model = ap::mlp(ap::Shape{28, 28, 1}, {64}, 10);
  const ap::InMemory<float> all = ap::Glyphs{.count = 300}.render();
  const auto train = all.subset(0, 200), validation = all.subset(200, 300);
  ap::TrainingLoop loop(model, ap::SoftmaxCrossEntropy{}, ap::adamw(), ap::Constant{1e-3}, ap::ShuffledEpochs{.batch = 10});
  ap::TrainingLoop other(model, ap::SoftmaxCrossEntropy{}, ap::sgd(), ap::Constant{1e-3}, ap::ShuffledEpochs{.batch = 10});
  ap::Predictor predictor(model);
${statements}}
")
execute_process(COMMAND ${COMPILER} ${FLAGS} -fsyntax-only ${source} RESULT_VARIABLE result ERROR_VARIABLE said)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "docs/${PAGE}.md: its code does not compile:\n${said}")
endif()
