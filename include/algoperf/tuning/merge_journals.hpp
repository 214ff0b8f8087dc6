// merge_journals: joins the journals of a study whose trials ran on several machines. Requires nlohmann-json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../state/atomic_file.hpp"
#include "journal.hpp"

namespace algoperf {

struct MergeOptions {
  // Whether seconds will be compared: then the records must be of one kind of processor.
  bool same_processor = true;
};

// Writes to `to` a journal with the records of all of `from`, by trial and byte for byte. Throws Error, naming the
// file, if a journal is damaged or belongs to another study, if two have different records of a trial, or if records
// are of different processors. A record that was not written to its end is left out.
inline void merge_journals(const std::vector<std::string>& from, const std::string& to,
                           const MergeOptions& options = {}) {
  require(!from.empty(), "merge_journals: there is no journal");
  std::string header, processor, of_processor;
  JournalContents::Json settings;
  std::map<std::uint64_t, std::pair<std::string, std::string>> lines;  // by trial: the record and its file
  for (const std::string& path : from) {
    std::ifstream file(path, std::ios::binary);
    require(static_cast<bool>(file), path, ": cannot be opened");
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const JournalContents found = parse_journal(bytes, path);
    require(found.whole > 0, path, ": is empty, expected a journal");
    if (header.empty()) {
      header = bytes.substr(0, bytes.find('\n') + 1);
      settings = found.settings;
    }
    require_settings(found.settings, settings, path + ":1: settings");
    for (const auto& [trial, line] : found.lines) {
      const auto [known, fresh] = lines.emplace(trial, std::pair(line, path));
      require(fresh || known->second.first == line, path, ": trial ", trial, " has another record than in ",
              known->second.second);
      const JournalContents::Json& record = found.records.at(trial);
      if (!options.same_processor || !record.contains("processor")) continue;
      const std::string name =
          record["processor"].dump(-1, ' ', false, JournalContents::Json::error_handler_t::replace);
      require(name != "\"unknown\"", path, ": trial ", trial,
              " ran on an unknown processor: its seconds cannot be compared");
      if (processor.empty()) processor = name, of_processor = path;
      require(name == processor, path, ": trial ", trial, " ran on ", name, ", but those of ", of_processor, " on ",
              processor, ": their seconds cannot be compared");
    }
  }
  AtomicFile file(to);
  file.write(header);
  for (const auto& [trial, line] : lines) file.write(line.first + "\n");
  file.commit();
}

}  // namespace algoperf
