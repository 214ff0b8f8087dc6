// Replaces libFuzzer for compilers without it: runs each file given as an argument once, then every prefix of it, and
// the file with each byte changed.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n);

namespace {

void run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int count, char** names) {
  for (int i = 1; i < count; ++i) {
    std::ifstream file(names[i], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || bytes.empty()) return std::fprintf(stderr, "%s: cannot be read\n", names[i]), 1;
    run(bytes);
    for (std::size_t end = 0; end < bytes.size(); ++end) run(bytes.substr(0, end));
    for (std::size_t at = 0; at < bytes.size(); ++at)
      for (const char change : {'\x01', '\x80', '\xFF'}) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ change);
        run(changed);
      }
  }
  std::printf("%d files\n", count - 1);
}
