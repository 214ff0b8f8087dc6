// PNG files (ISO/IEC 15948), by libpng. Link with algoperf::images.
#pragma once

#include <png.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/error.hpp"
#include "check_size.hpp"
#include "image.hpp"

namespace algoperf {

// Decodes a PNG of any kind to red, green and blue. Transparency is ignored, and 16 bits per channel become 8. `name`
// is the file's, for errors. Throws Error if the bytes are no valid PNG or the image has more than 2^28 pixels.
inline Image png_from_bytes(std::string_view bytes, const std::string& name) {
  png_image png;
  std::memset(&png, 0, sizeof png);
  png.version = PNG_IMAGE_VERSION;
  require(png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) != 0, name, ": ", png.message);
  if (png.height == 0 || png.width > detail::most_pixels / png.height) {
    const std::size_t rows = png.height, columns = png.width;
    png_image_free(&png);
    detail::check_size(rows, columns, name);
  }
  png.format = PNG_FORMAT_RGBA;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(png));
  const bool complete = png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr) != 0;
  require(complete, name, ": ", png.message);
  Image image{png.height, png.width, 3, {}};
  image.bytes.resize(pixels.size() / 4 * 3);
  for (std::size_t i = 0; i < pixels.size() / 4; ++i)
    for (std::size_t k = 0; k < 3; ++k) image.bytes[3 * i + k] = pixels[4 * i + k];
  return image;
}

}  // namespace algoperf
