// Child processes for tests that kill a process, limit its resources or drop its privileges.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace algoperf::testing {

inline void nothing(pid_t) {}

// Runs f in a child process, and meanwhile(child's id) in this one. Returns the child's wait status.
template <class F, class Meanwhile>
int in_child(const F& f, const Meanwhile& meanwhile) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    try {
      f();
    } catch (...) {
      _exit(99);
    }
    _exit(0);
  }
  meanwhile(child);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Returns the string that f returns in a child process, at most 4096 bytes.
template <class F>
std::string from_child(const F& f) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const auto send = [&] {
    const std::string text = f();
    if (write(ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(98);
  };
  CHECK(in_child(send, nothing) == 0);
  close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t n = read(ends[0], text.data(), text.size());
  close(ends[0]);
  REQUIRE(n >= 0);
  text.resize(static_cast<std::size_t>(n));
  return text;
}

}  // namespace algoperf::testing
