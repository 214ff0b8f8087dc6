// Any bytes either load as a table of comma-separated values or are refused with an Error. A table that loads is
// encoded identically when it is read again as a second file.
#include <algoperf/data/readers/csv.hpp>

#include "memory_file.hpp"

namespace ap = algoperf;

namespace {

void read(const MemoryFile& file, const ap::CsvOptions& options) {
  try {
    const ap::Table table = ap::load_csv(file.path(), options);
    const ap::Table again = ap::load_csv(file.path(), table, options);
    const std::vector<float> inputs = table.inputs();
    if (inputs.size() != table.rows() * table.width() || inputs != again.inputs()) std::abort();
    if (table.input_names().size() != table.width()) std::abort();
    if (table.has_label() && table.width() > 0 && table.examples().size() != table.rows()) std::abort();
  } catch (const ap::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const MemoryFile file(bytes, n);
  read(file, {.standardise = true, .max_categories = 100, .limit = 4096});
  read(file,
       {.label = "y", .max_categories = 100, .separator = '\t', .trim = true, .names = {"x", "y"}, .limit = 4096});
  return 0;
}
