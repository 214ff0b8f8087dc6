// NumPy's .npz format, many arrays per file: a zip archive of .npy files.
//
//   save_npz("values.npz", values_dict(loop));       numpy.load("values.npz")["0.weight"]
//   load_values(load_npz("theirs.npz"), loop);       from numpy.savez and numpy.savez_compressed
//
// Needs libzip.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../state/atomic_file.hpp"
#include "../state/read_file.hpp"
#include "concept.hpp"
#include "npy_bytes.hpp"
#include "zip.hpp"

namespace algoperf {

inline constexpr std::uint64_t default_npz_limit = std::uint64_t{1} << 32;

// Stores arrays without compression, as numpy.savez. Throws Error if there are no arrays, NumPy has no type for an
// array, or the file cannot be written.
inline void save_npz(const std::string& path, const StateDict& dict) {
  require(!dict.arrays().empty(), path, ": there are no arrays to save");
  std::vector<std::string> files;
  for (const StateDict::Array& array : dict.arrays()) files.push_back(detail::npy_bytes(path, array));
  detail::Zip zip(path);
  for (std::size_t i = 0; i < files.size(); ++i) zip.add(dict.arrays()[i].name + ".npy", files[i]);
  const std::string bytes = zip.finish();
  write_file(path, bytes);
}

// Reads all arrays. A file whose entries decompress to more than `limit` bytes in total is refused, regardless of its
// size on disk. Throws Error with the file and, if an entry is the cause, the entry.
inline StateDict load_npz(const std::string& path, std::uint64_t limit = default_npz_limit) {
  const std::string bytes = read_file(path);
  detail::Zip zip(path, bytes, limit);
  StateDict dict;
  for (std::size_t i = 0; i < zip.count(); ++i) {
    const std::string entry = zip.name(i);
    const std::size_t stem = entry.size() - std::min<std::size_t>(entry.size(), 4);
    require(entry.substr(stem) == ".npy", path, ": entry '", entry, "' is not a .npy file");
    const std::string name = entry.substr(0, stem);
    require(!dict.contains(name), path, ": has two entries '", entry, "'");
    detail::read_npy_from(detail::Zip::Entry(zip, i), path + ", entry '" + entry + "'", name, dict);
  }
  return dict;
}

}  // namespace algoperf
