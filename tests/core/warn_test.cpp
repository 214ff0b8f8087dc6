#include "algoperf/core/warn.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ap = algoperf;

TEST_CASE("warn: the handler receives each sentence; null brings back the one that writes to standard error") {
  static std::vector<std::string> received;
  received.clear();
  const ap::WarningHandler keep = [](const char* sentence) { received.emplace_back(sentence); };
  const ap::WarningHandler before = ap::on_warning(keep);
  ap::warn("the rate is large");
  ap::warn("the rate is large");
  CHECK(received == std::vector<std::string>(2, "the rate is large"));
  CHECK((ap::on_warning(nullptr) == keep));
  CHECK((ap::on_warning(before) == ap::detail::write_warning));
}
