#include "algoperf/tuning/merge_journals.hpp"

#include <doctest/doctest.h>

#include <string>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

const std::string merge_header = "{\"journal\":1,\"settings\":{\"seed\":1}}\n";

}  // namespace

TEST_CASE("journals are merged by trial and byte for byte") {
  const Folder folder;
  const std::string a = folder.write("a", merge_header + "{\"trial\":4, \"x\":1.50}\n{\"trial\":0}\n");
  const std::string b =
      folder.write("b", merge_header + "{\"trial\":1,\"processor\":\"p\"}\n{\"trial\":0}\n{\"trial\":9");
  ap::merge_journals({a, b}, folder / "to");
  CHECK(bytes_of(folder / "to") ==
        merge_header + "{\"trial\":0}\n{\"trial\":1,\"processor\":\"p\"}\n{\"trial\":4, \"x\":1.50}\n");
  CHECK(ap::Journal(folder / "to", {{"seed", 1}}).records().size() == 3);
}

TEST_CASE("journals that do not belong together are refused, and nothing is written") {
  const Folder folder;
  const std::string a = folder.write("a", merge_header + "{\"trial\":0,\"processor\":\"p\"}\n"), to = folder / "to";
  const auto error = [&](const std::string& bytes, const ap::MergeOptions& options = {}) {
    const std::string b = folder.write("b", bytes);
    const std::string found = sentence([&] { ap::merge_journals({a, b}, to, options); });
    return found.starts_with(b) ? found.substr(b.size()) : found;
  };
  CHECK(error(merge_header + "{\"trial\":0,\"processor\":\"p\",\"y\":1}\n") ==
        ": trial 0 has another record than in " + a);
  CHECK(error("{\"journal\":1,\"settings\":{\"seed\":2}}\n") == ":1: settings.seed is 2, but this study has 1");
  CHECK(error(merge_header + "{\"trial\":1,\"processor\":\"unknown\"}\n") ==
        ": trial 1 ran on an unknown processor: its seconds cannot be compared");
  CHECK(error(merge_header + "{\"trial\":1,\"processor\":\"q\"}\n") ==
        ": trial 1 ran on \"q\", but those of " + a + " on \"p\": their seconds cannot be compared");
  CHECK(error(merge_header + "{\n") == ":2: is not a JSON object");
  CHECK(error("") == ": is empty, expected a journal");
  CHECK(bytes_of(to).empty());
  CHECK(sentence([&] { ap::merge_journals({folder / "none"}, to); }) == folder / "none: cannot be opened");
  CHECK(sentence([&] { ap::merge_journals({}, to); }) == "merge_journals: there is no journal");
  CHECK(error(merge_header + "{\"trial\":1,\"processor\":\"q\"}\n", {.same_processor = false}).empty());
  CHECK_FALSE(bytes_of(to).empty());
}
