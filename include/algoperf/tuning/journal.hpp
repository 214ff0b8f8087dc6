// Journal: an append-only file of records, so that a study that is killed at any moment continues where it was.
// Requires nlohmann-json.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "../core/warn.hpp"

namespace algoperf {

struct JournalOptions {
  bool sync = false;  // fsync after each record, so that it survives a power failure
};

// What a journal contains. The first line is {"journal": 1, "settings": ...}; each further line is a record, a JSON
// object with a field "trial", a whole number that no other record has.
struct JournalContents {
  using Json = nlohmann::ordered_json;
  Json settings;
  std::map<std::uint64_t, Json> records = {};       // by trial
  std::map<std::uint64_t, std::string> lines = {};  // the same as they are in the file, without the line's end
  std::size_t whole = 0;                            // the bytes of all whole lines; a killed study may leave more
};

// Parses the bytes of a journal; without a whole first line, the settings are null. Throws Error, naming file, line and
// field, if a line is damaged.
inline JournalContents parse_journal(const std::string& bytes, const std::string& path) {
  JournalContents found;
  for (std::size_t line = 1, end; (end = bytes.find('\n', found.whole)) != std::string::npos; ++line) {
    const std::string text = bytes.substr(found.whole, end - found.whole), where = path + ":" + std::to_string(line);
    const JournalContents::Json json = JournalContents::Json::parse(text, nullptr, false);
    require(json.is_object(), where, ": is not a JSON object");
    found.whole = end + 1;
    if (line == 1) {
      require(json.contains("journal") && json["journal"] == 1, where,
              ": field \"journal\" is not 1, so this is no journal of this version");
      require(json.contains("settings"), where, ": there is no field \"settings\"");
      found.settings = json["settings"];
      continue;
    }
    require(json.contains("trial") && json["trial"].is_number_unsigned(), where,
            ": field \"trial\" is not a whole number");
    const auto trial = json["trial"].get<std::uint64_t>();
    require(found.records.emplace(trial, json).second, where, ": trial ", trial, " has a second record");
    found.lines.emplace(trial, text);
  }
  return found;
}

// Throws Error, naming the first field that differs, unless the settings of a journal are the expected ones.
inline void require_settings(const nlohmann::ordered_json& found, const nlohmann::ordered_json& expected,
                             const std::string& where) {
  using Json = nlohmann::ordered_json;
  if (found == expected) return;
  if (found.is_object() && expected.is_object()) {
    for (const auto& [name, value] : expected.items()) {
      require(found.contains(name), where, ".", name, " is missing");
      require_settings(found[name], value, where + "." + name);
    }
    for (const auto& [name, value] : found.items()) require(expected.contains(name), where, ".", name, " is unknown");
  }
  if (found.is_array() && expected.is_array() && found.size() == expected.size())
    for (std::size_t i = 0; i < found.size(); ++i)
      require_settings(found[i], expected[i], where + "[" + std::to_string(i) + "]");
  const auto text = [](const Json& json) {
    const std::string whole = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return whole.size() <= 200 ? whole : whole.substr(0, 200) + "...";
  };
  fail(where, " is ", text(found), ", but this study has ", text(expected));
}

// An append-only file of records. Records are written whole and never changed. A last line without its end was being
// written when the study was killed: it is removed, with a warning.
class Journal {
 public:
  using Json = nlohmann::ordered_json;

  // Opens a journal, or begins one. Throws Error, naming file, line and field, if the file belongs to a study with
  // other settings, if it is damaged, or if another process has it open.
  Journal(const std::string& path, const Json& settings, const JournalOptions& options = {})
      : path_(path), options_(options), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    require(file_ >= 0, path, ": cannot be opened (", std::strerror(errno), ")");
    try {
      lock();
      std::string text;
      char buffer[1 << 16];
      for (ssize_t got; (got = ::read(file_, buffer, sizeof buffer)) != 0;) {
        require(got > 0 || errno == EINTR, path, ": cannot be read (", std::strerror(errno), ")");
        if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
      }
      contents_ = parse_journal(text, path);
      const std::string header = header_of(settings);
      require(contents_.whole > 0 || header.starts_with(text), path, ": is not a journal");
      if (contents_.whole < text.size()) {
        warn(path + ": removed the last " + std::to_string(text.size() - contents_.whole) +
             " bytes, a record that was not written to its end");
        require(::ftruncate(file_, static_cast<off_t>(contents_.whole)) == 0, path, ": cannot be truncated (",
                std::strerror(errno), ")");
      }
      if (contents_.whole == 0)
        write(header);
      else
        require_settings(contents_.settings, settings, path + ":1: settings");
    } catch (...) {
      ::close(file_);
      throw;
    }
  }
  // For a process that follows another one, which writes the file: `bytes` are those of its journal. append() adds to
  // records() only.
  Journal(const std::string& path, const Json& settings, const std::string& bytes) : path_(path), file_(-1) {
    contents_ = parse_journal(bytes, path);
    require_settings(contents_.settings, settings, path + ":1: settings");
  }
  ~Journal() {
    if (file_ >= 0) ::close(file_);
  }
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // The records, by trial.
  const std::map<std::uint64_t, Json>& records() const { return contents_.records; }
  // Returns the journal with these settings as bytes.
  std::string bytes(const Json& settings) const {
    std::string text = header_of(settings);
    for (const auto& [trial, record] : contents_.records) text += line_of(record);
    return text;
  }

  // Appends a record. Throws Error if it cannot be written, or if there is one of this trial.
  void append(std::uint64_t trial, const Json& fields) {
    Json record{{"trial", trial}};
    record.update(fields);
    require(contents_.records.emplace(trial, record).second, path_, ": trial ", trial, " has a record already");
    if (file_ >= 0) write(line_of(record));
  }

 private:
  // Workers of a study that was just killed share its lock until they end, too, so this waits a second.
  void lock() const {
    for (int attempt = 0; ::flock(file_, LOCK_EX | LOCK_NB) != 0; ++attempt) {
      require(errno == EWOULDBLOCK || errno == EINTR, path_, ": cannot be locked (", std::strerror(errno), ")");
      require(attempt < 100, path_, ": another process is writing this journal");
      ::usleep(10000);
    }
  }

  static std::string line_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  static std::string header_of(const Json& settings) { return line_of(Json{{"journal", 1}, {"settings", settings}}); }

  void write(const std::string& line) {
    for (std::size_t done = 0; done < line.size();) {
      const ssize_t put = ::write(file_, line.data() + done, line.size() - done);
      require(put > 0 || errno == EINTR, path_, ": cannot be written (", std::strerror(errno), ")");
      if (put > 0) done += static_cast<std::size_t>(put);
    }
    require(!options_.sync || ::fsync(file_) == 0, path_, ": cannot be synchronised (", std::strerror(errno), ")");
  }

  std::string path_;
  JournalOptions options_;
  int file_;
  JournalContents contents_;
};

}  // namespace algoperf
