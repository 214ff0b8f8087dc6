// Reads data sets with the readers of data/: a table, recordings, graphs and sentence pairs. The argument is the folder
// of data sets; the default is $ALGOPERF_DATA, or "data" if that is not set. Returns 77 if the folder holds none.
#include <algoperf/data/readers/csv.hpp>
#include <algoperf/data/readers/graphs.hpp>
#include <algoperf/data/readers/sentence_pairs.hpp>
#include <algoperf/data/readers/spoken_digits.hpp>
#include <algoperf/data/readers/vocabulary.hpp>
#include <algoperf/workloads/data_root.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
namespace ap = algoperf;

void show_table(const std::string& path) {
  const ap::Table table = ap::load_csv(path, {.label = "income", .standardise = true});
  std::printf("%zu rows, classes", table.rows());
  for (const std::string& name : table.class_names()) std::printf(" %s", name.c_str());
  std::printf("\n");
  for (const ap::Column& column : table.columns())
    if (column.numeric)
      std::printf("  %-14s number, mean %g, deviation %g\n", column.name.c_str(), column.mean, column.deviation);
    else
      std::printf("  %-14s %zu categories, %s to %s\n", column.name.c_str(), column.categories.size(),
                  column.categories.front().c_str(), column.categories.back().c_str());
  const ap::InMemory<float> examples = table.examples();
  std::printf("  as a data set: %zu examples of %zu inputs, %zu classes\n", examples.size(), examples.shape().size(),
              examples.classes());
}

void show_recordings(const std::string& path) {
  const ap::SpokenDigits digits = ap::load_spoken_digits(path);
  std::printf("%zu recordings to train, %zu to test\n", digits.train.size(), digits.test.size());
  const ap::SpokenDigit& first = digits.test.at(0);
  std::printf("  %s: a %d by %s, %zu samples at %u a second\n", first.name.c_str(), first.digit, first.speaker.c_str(),
              first.samples.size(), first.sample_rate);
}

void show_graphs(const std::string& path) {
  const ap::Graphs graphs = ap::load_graphs(path);
  std::printf("%zu graphs of %zu classes, %zu nodes of %zu kinds, %zu neighbours\n", graphs.size(),
              graphs.label_values.size(), graphs.tags.size(), graphs.tag_values.size(), graphs.neighbours.size());
}

void show_sentences(const std::string& source, const std::string& target) {
  const ap::SentencePairs pairs = ap::load_sentence_pairs(source, target);
  const ap::Vocabulary words(pairs.target, {.min_count = 2});
  std::printf("%zu pairs, %zu tokens: target words that occur at least twice, and four special tokens\n  %s\n  %s\n ",
              pairs.size(), words.size(), pairs.source[0].c_str(), pairs.target[0].c_str());
  for (const std::int32_t token : words.encode(pairs.target[0])) std::printf(" %d", token);
  std::printf("\n");
}

int main(int count, char** arguments) {
  const std::string data = (count > 1 ? arguments[1] : ap::data_root()) + "/";
  int shown = 0;
  const auto show = [&](const std::string& name, auto&& print) {
    std::printf("%s: ", name.c_str());
    if (!std::filesystem::exists(data + name)) {
      std::printf("not in %s\n", data.c_str());
      return;
    }
    print();
    ++shown;
  };
  try {
    show("adult/adult.csv.gz", [&] { show_table(data + "adult/adult.csv"); });
    show("spoken-digits/recordings.tar.gz", [&] { show_recordings(data + "spoken-digits/recordings.tar.gz"); });
    for (const std::string name : {"graphs/MUTAG.txt", "graphs/NCI1.txt", "graphs/PROTEINS.txt"})
      show(name + ".gz", [&] { show_graphs(data + name); });
    show("multi30k/train.de.gz", [&] { show_sentences(data + "multi30k/train.de", data + "multi30k/train.en"); });
  } catch (const ap::Error& error) {
    std::printf("\n%s\n", error.what());
    return 1;
  }
  return shown > 0 ? 0 : 77;
}
