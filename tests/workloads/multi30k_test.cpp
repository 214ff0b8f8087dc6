// The workload of translations.
#include <algoperf/workloads/multi30k.hpp>

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "../support/data_path.hpp"
#include "../support/folder.hpp"
#include "../support/sentence.hpp"

namespace algoperf::testing::of_multi30k {

static_assert(Workload<Multi30k>);
static_assert(parameters_of(Translator::model(2000)) == 261120);

TEST_CASE("multi30k: pairs of tokens, and the parts of the data, from small files") {
  const Folder folder;
  std::filesystem::create_directory(folder / "multi30k");
  const auto write = [&](const std::string& name, const std::string& de, const std::string& en) {
    folder.write("multi30k/" + name + ".de", de);
    folder.write("multi30k/" + name + ".en", en);
  };
  write("train", "ein Hund\nein Mann\nzwei Hunde\n", "a dog\na man\ntwo dogs\n");
  write("val", "ein Mann\n", "a man\n");
  write("test_2016_flickr", "zwei\n\n", "two\n\n");
  const Multi30k task{.data = folder.path(), .pairs = 2, .vocabulary = 26};
  const Subwords subwords = task.metric().text;
  CHECK(task.model().vocabulary == subwords.size());
  CHECK(task.train().size() == 2);
  CHECK(task.validation().size() == 1);
  CHECK(task.test().size() == 2);

  const auto source = token_sequences(task.validation(), "source"), input = token_sequences(task.validation(), "input"),
             label = token_sequences(task.validation(), "label");
  CHECK(source[0].back() == Subwords::end);
  CHECK(subwords.decode(source[0]) == "ein Mann");
  CHECK(input[0].front() == Subwords::begin);
  CHECK(label[0].back() == Subwords::end);
  CHECK(std::vector<std::int32_t>(input[0].begin() + 1, input[0].end()) ==
        std::vector<std::int32_t>(label[0].begin(), label[0].end() - 1));
  CHECK(subwords.decode(label[0]) == "a man");
  CHECK(token_sequences(task.test(), "label")[1] == std::vector<std::int32_t>{Subwords::end});
  // "zwei" is not among the first two pairs, so w and z are unknown.
  CHECK(subwords.decode(token_sequences(task.test(), "source")[0]) == "<unknown><unknown>ei");

  const Multi30k many{.data = folder.path(), .pairs = 4, .vocabulary = 26};
  CHECK(sentence([&] { many.train(); }) == "Multi30k: pairs is 4, expected 1 to 3");
  CHECK(sentence([] { translation_fields({"a"}, {}, Subwords({"a"}, 6)); }) ==
        "translation_fields: there are 1 sources and 0 targets, expected the same number");
}

TEST_CASE("multi30k: variants, and a few steps on the captions") {
  const std::string path = data_path("multi30k");
  if (path.empty()) return;
  const Multi30k task{.data = path.substr(0, path.rfind('/')), .pairs = 300, .vocabulary = 200, .beams = 1};
  std::set<std::string> names;
  task.each_variant([&](const auto& variant) {
    CHECK(variant.base == task.name);
    CHECK(variant.pairs == 300);
    CHECK(variant.vocabulary == 200);
    CHECK(variant.beams == 1);
    names.insert(variant.name);
  });
  CHECK(names == std::set<std::string>{"multi30k_transformer_post_ln", "multi30k_transformer_attention_temp",
                                       "multi30k_transformer_glu_tanh"});
  CHECK(task.validation().size() == 1014);
  CHECK(task.test().size() == 1000);
  TrainingLoop loop(task.model(), task.loss(), adamw(), Constant{1e-2}, ShuffledEpochs{.batch = 8});
  const auto few = task.validation().subset(0, 4);
  const EvaluationReport before = loop.evaluate(few, task.metric());
  CHECK(before.metric < 3);
  loop.run(task.train(), UntilStep{25});
  CHECK(loop.evaluate(few, task.metric()).loss < before.loss - 0.5);
}

}  // namespace algoperf::testing::of_multi30k
