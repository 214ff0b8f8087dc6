// JPEG files (ITU-T T.81), by libjpeg or libjpeg-turbo. Link with algoperf::images.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h uses FILE
#include <string>
#include <string_view>

#include <jpeglib.h>

#include <jerror.h>  // after jpeglib.h, whose types it uses

#include "../../core/error.hpp"
#include "check_size.hpp"
#include "image.hpp"

namespace algoperf {

namespace detail {

// libjpeg reports an error by calling error_exit, which must not return.
struct JpegErrors {
  jpeg_error_mgr manager;  // first, because libjpeg has its address
  std::jmp_buf after;
  char message[JMSG_LENGTH_MAX];

  static void fail(j_common_ptr state) {
    auto* const errors = reinterpret_cast<JpegErrors*>(state->err);
    (*state->err->format_message)(state, errors->message);
    std::longjmp(errors->after, 1);
  }
  // Level -1 is a warning. These ones mean that pixels are lost, which libjpeg would replace by grey ones.
  static void fail_if_pixels_are_lost(j_common_ptr state, int level) {
    if (level >= 0) return;
    for (const int code :
         {JWRN_JPEG_EOF, JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE, JWRN_MUST_RESYNC, JWRN_BOGUS_PROGRESSION})
      if (state->err->msg_code == code) fail(state);
  }
};

// Decodes row by row into an image of the size that the header names. Returns false after an error of libjpeg. No
// object with a destructor lives between setjmp and the calls that may end in longjmp.
inline bool decode_jpeg(jpeg_decompress_struct& state, JpegErrors& errors, std::string_view bytes,
                        const std::string& name, Image& image) {
  if (setjmp(errors.after) != 0) return false;
  jpeg_create_decompress(&state);
  jpeg_mem_src(&state, reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&state, TRUE);
  state.out_color_space = JCS_RGB;
  image.rows = state.image_height;
  image.columns = state.image_width;
  check_size(image.rows, image.columns, name);
  image.bytes.resize(image.rows * image.columns * 3);
  jpeg_start_decompress(&state);
  while (state.output_scanline < state.output_height) {
    JSAMPROW row = image.bytes.data() + std::size_t{state.output_scanline} * image.columns * 3;
    jpeg_read_scanlines(&state, &row, 1);
  }
  jpeg_finish_decompress(&state);
  return true;
}

}  // namespace detail

// Decodes a grey or colour JPEG to red, green and blue. Error messages begin with `name`, the name of the file.
// Throws Error if the bytes are no valid JPEG, lack some of the pixels, have other colours (such as CMYK), or the image
// has more than 2^28 pixels.
inline Image jpeg_from_bytes(std::string_view bytes, const std::string& name) {
  detail::JpegErrors errors{};
  struct State : jpeg_decompress_struct {
    State() : jpeg_decompress_struct() {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { jpeg_destroy_decompress(this); }
  } state;
  state.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = detail::JpegErrors::fail;
  errors.manager.emit_message = detail::JpegErrors::fail_if_pixels_are_lost;
  Image image;
  const bool decoded = detail::decode_jpeg(state, errors, bytes, name, image);
  require(decoded, name, ": ", static_cast<const char*>(errors.message));
  return image;
}

}  // namespace algoperf
