// load_image: reads an image from a PNG or JPEG file. Link with algoperf::images.
#pragma once

#include <string>
#include <string_view>

#include "../../core/error.hpp"
#include "../../state/read_file.hpp"
#include "jpeg.hpp"
#include "png.hpp"

namespace algoperf {

// Reads a PNG or JPEG file as red, green and blue. Its first bytes decide the format. Ignores the EXIF orientation.
// Throws Error, naming the file, if the file cannot be read, is damaged, or is neither a PNG nor a JPEG.
inline Image load_image(const std::string& path) {
  const std::string bytes = read_file(path);
  const std::string_view all = bytes;
  if (all.starts_with("\x89PNG")) return png_from_bytes(all, path);
  require(all.starts_with("\xFF\xD8"), path, ": the file is neither a PNG nor a JPEG");
  return jpeg_from_bytes(all, path);
}

}  // namespace algoperf
