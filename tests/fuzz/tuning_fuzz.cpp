// Any bytes either are read as a journal, a search space or a point, or they are refused with an Error. A journal that
// is read is a prefix of the bytes; a search space that is read is written and read again as the same.
#include <algoperf/tuning/journal.hpp>
#include <algoperf/tuning/search_space_json.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace ap = algoperf;

namespace {

template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const ap::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const std::string text(reinterpret_cast<const char*>(bytes), n);
  attempt([&] {
    const ap::JournalContents found = ap::parse_journal(text, "journal");
    if (found.whole > text.size() || found.lines.size() != found.records.size()) std::abort();
    if (found.whole > 0 && text[found.whole - 1] != '\n') std::abort();
  });
  attempt([&] {
    const ap::SearchSpace space = ap::parse_search_space(text);
    const std::string written = ap::to_json(space).dump();
    if (ap::to_json(ap::parse_search_space(written)).dump() != written) std::abort();
    const std::size_t listed = space.listed().size();
    for (const ap::HyperPoint& point : ap::search_points(space, listed > 0 ? listed : 3, 1, ap::Search::random))
      ap::parse_point(ap::to_json(point).dump());
  });
  attempt([&] { ap::parse_point(text); });
  return 0;
}
