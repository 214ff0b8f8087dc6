// PNG files (ISO/IEC 15948), by libpng. Link with algoperf::images.
#pragma once

#include <png.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/error.hpp"
#include "check_size.hpp"
#include "image.hpp"

namespace algoperf {

// Decodes a PNG of any kind to red, green and blue. Transparency is ignored, and 16 bits per channel are scaled to 8. A
// file that names another gamma than that of sRGB is converted to sRGB, which Pillow does not do. Error messages begin
// with `name`, the name of the file. Throws Error if the bytes are no valid PNG or the image has more than 2^28 pixels.
inline Image png_from_bytes(std::string_view bytes, const std::string& name) {
  struct Png : png_image {
    Png() : png_image() { version = PNG_IMAGE_VERSION; }
    Png(const Png&) = delete;
    Png& operator=(const Png&) = delete;
    ~Png() { png_image_free(this); }
  } png;
  const bool begun = png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) != 0;
  require(begun, name, ": ", static_cast<const char*>(png.message));
  detail::check_size(png.height, png.width, name);
  png.format = PNG_FORMAT_RGBA;
  png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // otherwise, libpng takes 16-bit values for linear ones
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(png));
  const bool complete = png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr) != 0;
  require(complete, name, ": ", static_cast<const char*>(png.message));
  Image image{png.height, png.width, 3, {}};
  image.bytes.resize(pixels.size() / 4 * 3);
  for (std::size_t i = 0; i < pixels.size() / 4; ++i)
    for (std::size_t k = 0; k < 3; ++k) image.bytes[3 * i + k] = pixels[4 * i + k];
  return image;
}

}  // namespace algoperf
