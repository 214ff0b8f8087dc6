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

// The first line is {"journal": 1, "settings": ...}; each further line is a JSON object with a field "trial", a whole
// number that no other record has. Records are written whole and never changed. A last line without its end was being
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
      const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
      if (whole < text.size()) {
        warn(path + ": removed the last " + std::to_string(text.size() - whole) +
             " bytes, a record that was not written to its end");
        require(::ftruncate(file_, static_cast<off_t>(whole)) == 0, path, ": cannot be truncated (",
                std::strerror(errno), ")");
        text.resize(whole);
      }
      if (text.empty())
        write(Json{{"journal", 1}, {"settings", settings}});
      else
        parse(text, settings);
    } catch (...) {
      ::close(file_);
      throw;
    }
  }
  ~Journal() { ::close(file_); }
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // The records, by trial.
  const std::map<std::uint64_t, Json>& records() const { return records_; }

  // Appends a record. Throws Error if it cannot be written, or if there is one of this trial.
  void append(std::uint64_t trial, const Json& fields) {
    Json record{{"trial", trial}};
    record.update(fields);
    require(records_.emplace(trial, record).second, path_, ": trial ", trial, " has a record already");
    write(record);
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

  void write(const Json& json) {
    const std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    for (std::size_t done = 0; done < line.size();) {
      const ssize_t put = ::write(file_, line.data() + done, line.size() - done);
      require(put > 0 || errno == EINTR, path_, ": cannot be written (", std::strerror(errno), ")");
      if (put > 0) done += static_cast<std::size_t>(put);
    }
    require(!options_.sync || ::fsync(file_) == 0, path_, ": cannot be synchronised (", std::strerror(errno), ")");
  }

  void parse(const std::string& text, const Json& settings) {
    std::size_t line = 1;
    for (std::size_t begin = 0; begin < text.size(); ++line) {
      const std::size_t end = text.find('\n', begin);
      const std::string where = path_ + ":" + std::to_string(line);
      const Json json = Json::parse(text.substr(begin, end - begin), nullptr, false);
      begin = end + 1;
      require(json.is_object(), where, ": is not a JSON object");
      if (line == 1) {
        require(json.contains("journal") && json["journal"] == 1, where,
                ": field \"journal\" is not 1, so this is no journal of this version");
        require(json.contains("settings"), where, ": there is no field \"settings\"");
        compare(json["settings"], settings, where + ": settings");
        continue;
      }
      require(json.contains("trial") && json["trial"].is_number_unsigned(), where,
              ": field \"trial\" is not a whole number");
      const auto trial = json["trial"].get<std::uint64_t>();
      require(records_.emplace(trial, json).second, where, ": trial ", trial, " has a second record");
    }
  }

  // Refuses other settings, naming the first that differs.
  static void compare(const Json& found, const Json& expected, const std::string& where) {
    if (found == expected) return;
    if (found.is_object() && expected.is_object()) {
      for (const auto& [name, value] : expected.items()) {
        require(found.contains(name), where, ".", name, " is missing");
        compare(found[name], value, where + "." + name);
      }
      for (const auto& [name, value] : found.items()) require(expected.contains(name), where, ".", name, " is unknown");
    }
    const auto text = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
    fail(where, " is ", text(found), ", but this study has ", text(expected));
  }

  std::string path_;
  JournalOptions options_;
  int file_;
  std::map<std::uint64_t, Json> records_;
};

}  // namespace algoperf
