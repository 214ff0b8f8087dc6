// Sentence pairs: reads two parallel files, plain or gzipped, with one sentence per line. Line i of the target file is
// a translation of line i of the source file. Link with zlib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "gz_file.hpp"
#include "lines.hpp"

namespace algoperf {

// `source` and `target` have the same size.
struct SentencePairs {
  std::vector<std::string> source, target;

  std::size_t size() const { return source.size(); }
};

// Reads each path, or path.gz if the path does not exist. A sentence is the bytes of a line without its ending (LF or
// CR LF); an empty line is an empty sentence. Throws Error if the files have different numbers of lines, or no lines.
inline SentencePairs load_sentence_pairs(const std::string& source, const std::string& target,
                                         std::uint64_t limit = GzFile::default_limit) {
  const auto read = [limit](const std::string& path, std::string& name) {
    Unpacked file = read_unpacked(path, limit);
    std::vector<std::string> sentences;
    detail::Lines lines(file.bytes);
    for (std::string_view line; lines.next(line);) sentences.emplace_back(line);
    name = std::move(file.path);
    return sentences;
  };
  std::string source_name, target_name;
  SentencePairs pairs;
  pairs.source = read(source, source_name);
  pairs.target = read(target, target_name);
  require(pairs.source.size() == pairs.target.size(), source_name, " has ", pairs.source.size(), " lines and ",
          target_name, " has ", pairs.target.size(), ", expected the same number");
  require(pairs.size() > 0, source_name, ": is empty, expected one sentence per line");
  return pairs;
}

}  // namespace algoperf
