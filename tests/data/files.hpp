// Helpers for tests of file readers, with and without gzip.
#pragma once

#if __has_include(<zlib.h>)
#include <zlib.h>
#endif

#include <string>

#include "../support/data_path.hpp"
#include "../support/folder.hpp"
#include "../support/sentence.hpp"

#if __has_include(<zlib.h>)
inline std::string write_gzipped(const Folder& folder, const std::string& name, const std::string& bytes) {
  const gzFile file = gzopen((folder / name).c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return folder / name;
}
#endif
