#include "algoperf/tuning/journal.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;
using Json = nlohmann::ordered_json;

namespace {

const Json settings{{"seed", 1}, {"space", {{"rate", 0.1}, {"beta", 0.9}}}};

// A journal of two records.
struct JournalFile {
  Folder folder;
  std::string path = folder / "j";
  std::string bytes;

  JournalFile() {
    ap::Journal journal(path, settings);
    journal.append(4, {{"value", 0.5}});
    journal.append(2, {{"value", 0.25}});
    bytes = bytes_of(path);
  }
  std::string error(const std::string& changed, const Json& expected = settings) const {
    folder.write("j", changed);
    const std::string found = sentence([&] { ap::Journal journal(path, expected); });
    return found.starts_with(path) ? found.substr(path.size()) : found;
  }
};

}  // namespace

TEST_CASE("a journal keeps its records byte for byte and takes more") {
  const JournalFile file;
  CHECK(file.bytes ==
        "{\"journal\":1,\"settings\":{\"seed\":1,\"space\":{\"rate\":0.1,\"beta\":0.9}}}\n"
        "{\"trial\":4,\"value\":0.5}\n"
        "{\"trial\":2,\"value\":0.25}\n");
  {
    ap::Journal journal(file.path, settings, {.sync = true});
    CHECK(journal.records().size() == 2);
    CHECK(journal.records().at(2)["value"] == 0.25);
    CHECK(sentence([&] { journal.append(4, Json::object()); }) == file.path + ": trial 4 has a record already");
    journal.append(5, {{"text", "\xff"}});  // not UTF-8
  }
  CHECK(bytes_of(file.path).starts_with(file.bytes));
  CHECK(ap::Journal(file.path, settings).records().size() == 3);
}

TEST_CASE("a journal cut at any byte keeps the records that are whole, and takes more") {
  const JournalFile file;
  const std::string last = "{\"trial\":7}\n";
  int lost = 0;
  for (std::size_t n = 0; n <= file.bytes.size(); ++n) {
    file.folder.write("j", file.bytes.substr(0, n));
    const ap::WarningHandler before = ap::on_warning([](const char*) {});
    {
      ap::Journal journal(file.path, settings);
      lost += journal.records().size() < 2;
      journal.append(7, Json::object());
    }
    ap::on_warning(before);
    const std::size_t line = file.bytes.find('\n') + 1, whole = file.bytes.substr(0, n).rfind('\n') + 1;
    CHECK(bytes_of(file.path) == (n < line ? file.bytes.substr(0, line) : file.bytes.substr(0, whole)) + last);
  }
  CHECK(lost == static_cast<int>(file.bytes.size()));  // all but the whole file
}

TEST_CASE("journals that are damaged, of other settings, or in use are refused") {
  const JournalFile file;
  const std::size_t second = file.bytes.find('\n') + 1;
  std::string changed = file.bytes;
  changed[second] = 'x';
  CHECK(file.error(changed) == ":2: is not a JSON object");
  CHECK(file.error(file.bytes + "{\"trial\":4}\n") == ":4: trial 4 has a second record");
  CHECK(file.error(file.bytes + "{\"trial\":-4}\n") == ":4: field \"trial\" is not a whole number");
  CHECK(file.error(file.bytes + "{}\n") == ":4: field \"trial\" is not a whole number");
  CHECK(file.error(file.bytes + "\n") == ":4: is not a JSON object");
  CHECK(file.error("{\"journal\":2,\"settings\":{}}\n") ==
        ":1: field \"journal\" is not 1, so this is no journal of this version");
  CHECK(file.error("{\"note\": \"not a journal, without an end of line\"}") == ": is not a journal");
  CHECK(bytes_of(file.path) == "{\"note\": \"not a journal, without an end of line\"}");
  CHECK(file.error("{\"journal\":1}\n") == ":1: there is no field \"settings\"");
  Json other = settings;
  other["space"]["rate"] = 0.2;
  CHECK(file.error(file.bytes, other) == ":1: settings.space.rate is 0.1, but this study has 0.2");
  other = settings;
  other["more"] = 1;
  CHECK(file.error(file.bytes, other) == ":1: settings.more is missing");
  other = settings;
  other["space"].erase("beta");
  CHECK(file.error(file.bytes, other) == ":1: settings.space.beta is unknown");
  CHECK(file.error(file.bytes, 3) ==
        ":1: settings is {\"seed\":1,\"space\":{\"rate\":0.1,\"beta\":0.9}}, but this study has 3");
  const auto difference = [](const Json& found, const Json& expected) {
    return sentence([&] { ap::require_settings(found, expected, "s"); });
  };
  CHECK(difference({{"cells", {1, {{"a", 2}}}}}, {{"cells", {1, {{"a", 3}}}}}) ==
        "s.cells[1].a is 2, but this study has 3");
  CHECK(difference(Json::array({1}), Json::array({1, 2})) == "s is [1], but this study has [1,2]");
  CHECK(difference(std::string(300, 'x'), 1) == "s is \"" + std::string(199, 'x') + "..., but this study has 1");
  const Json ab{{"a", 1}, {"b", 2}}, ba{{"b", 2}, {"a", 1}};
  CHECK(difference(ab, ba) == "s is {\"a\":1,\"b\":2}, but this study has {\"b\":2,\"a\":1}");
  file.folder.write("j", file.bytes);
  const ap::Journal journal(file.path, settings);
  CHECK(sentence([&] { ap::Journal second_writer(file.path, settings); }) ==
        file.path + ": another process is writing this journal");
  CHECK(sentence([&] { ap::Journal none(file.folder / "no/j", settings); }).find("cannot be opened") !=
        std::string::npos);
}
