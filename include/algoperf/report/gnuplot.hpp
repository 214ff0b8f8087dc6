// Runs gnuplot as a child process.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "../state/atomic_file.hpp"

extern "C" char** environ;

namespace algoperf::detail {

// Returns the text as a single-quoted gnuplot string: quotes are doubled, and line breaks become spaces.
inline std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c == '\n' || c == '\r' ? ' ' : c);
  return result + "'";
}

// Removes a file on destruction, if it exists.
class RemovedFile {
 public:
  explicit RemovedFile(std::string path) : path_(std::move(path)) {}
  ~RemovedFile() { std::remove(path_.c_str()); }
  RemovedFile(const RemovedFile&) = delete;
  RemovedFile& operator=(const RemovedFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs gnuplot on a script file and returns its exit status, 127 if it could not be started. The script is a file,
// not a pipe: writing to a pipe without a reader would kill this process.
inline int run_gnuplot(const std::string& script) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, script.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  char name[] = "gnuplot";
  char* const arguments[] = {name, nullptr};
  pid_t child = 0;
  const bool started = posix_spawnp(&child, name, &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (!started) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) == -1)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Draws into a temporary file beside `path`, and renames it to `path` when gnuplot has succeeded. Throws Error if it
// fails.
inline void gnuplot(const std::string& terminal, const std::string& path, const std::string& script) {
  const RemovedFile picture(path + ".tmp"), commands(path + ".gnuplot");
  write_file(commands.path(),
             "set terminal " + terminal + "\nset output " + quoted(picture.path()) + "\n" + script + "\nset output\n");
  const int status = run_gnuplot(commands.path());
  require(status != 127, path, ": gnuplot could not be started (is it installed?)");
  require(status == 0 && std::rename(picture.path().c_str(), path.c_str()) == 0, path, ": gnuplot could not draw it");
}

}  // namespace algoperf::detail
