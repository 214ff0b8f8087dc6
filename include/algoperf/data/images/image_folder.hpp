// load_image_folder: an image classification data set from a folder with a subfolder per class. Link with
// algoperf::images.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../byte_images.hpp"
#include "load_image.hpp"
#include "resize.hpp"

namespace algoperf {

struct ImageFolderOptions {
  std::size_t rows = 224, columns = 224;  // of all images, which fitted() scales and crops
  std::size_t channels = 3;               // or 1: grey, 0.299 red + 0.587 green + 0.114 blue
  ChannelStatistics statistics = {};      // of byte / 255
};

struct ImageFolder {
  ByteImages images;
  std::vector<std::string> classes;  // the names of the subfolders: label k is classes[k]
  std::vector<std::string> files;    // of each image
};

// The statistics of ImageNet's training images, with which most published networks for images were trained.
inline constexpr ChannelStatistics imagenet_statistics{{.485, .456, .406, 0}, {.229, .224, .225, 1}};

namespace detail {

inline bool is_image_file(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

// Returns the paths that `accept` accepts of those in a folder, or with `deeply` also in its subfolders, in order.
template <class Accept>
std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder, bool deeply, const Accept& accept) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  std::filesystem::recursive_directory_iterator each(
      folder, std::filesystem::directory_options::follow_directory_symlink, error);
  for (const auto end = std::filesystem::recursive_directory_iterator(); !error && each != end; each.increment(error)) {
    if (!deeply) each.disable_recursion_pending();
    if (accept(*each)) paths.push_back(each->path());
  }
  require(!error, folder.string(), ": cannot be read (", error.message(), ")");
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Appends the pixels of a fitted image, as `channels` channels.
inline void append_pixels(const Image& image, std::size_t channels, std::vector<std::uint8_t>& to) {
  if (channels == 3) {
    to.insert(to.end(), image.bytes.begin(), image.bytes.end());
    return;
  }
  for (std::size_t i = 0; i < image.bytes.size(); i += 3) {
    const std::uint32_t red = image.bytes[i], green = image.bytes[i + 1], blue = image.bytes[i + 2];
    to.push_back(static_cast<std::uint8_t>((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16));
  }
}

}  // namespace detail

// Reads all PNG and JPEG files (.png, .jpg, .jpeg) in the subfolders of `folder`, and in folders within them, into
// memory. Each subfolder is a class; classes are sorted by name, and images by class and path. Other files are ignored.
//   const ImageFolder pets = load_image_folder("pets", {.rows = 64, .columns = 64, .statistics = imagenet_statistics});
//   loop.run(transformed(pets.images, RandomFlip{}), ...);
// torchvision: ImageFolder, with Resize, CenterCrop and Normalize.
// Throws Error, naming the file or folder, if there is no subfolder, a class has no image, or an image is damaged.
inline ImageFolder load_image_folder(const std::string& folder, const ImageFolderOptions& options = {}) {
  require(options.rows > 0 && options.columns > 0, "load_image_folder: images have ", options.rows, " x ",
          options.columns, " pixels, expected at least 1 each");
  require(options.channels == 1 || options.channels == 3, "load_image_folder: channels is ", options.channels,
          ", expected 1 or 3");
  const auto class_folders = detail::paths_in(folder, false, [](const auto& entry) { return entry.is_directory(); });
  require(!class_folders.empty(), folder, ": there is no subfolder, expected one for each class");
  std::vector<std::uint8_t> bytes;
  std::vector<std::int32_t> labels;
  std::vector<std::string> classes, files;
  for (const std::filesystem::path& class_folder : class_folders) {
    const auto images = detail::paths_in(class_folder, true, [](const auto& entry) {
      return entry.is_regular_file() && detail::is_image_file(entry.path());
    });
    require(!images.empty(), class_folder.string(), ": there is no image, expected files .png, .jpg or .jpeg");
    for (const std::filesystem::path& path : images) {
      detail::append_pixels(fitted(load_image(path.string()), options.rows, options.columns), options.channels, bytes);
      labels.push_back(static_cast<std::int32_t>(classes.size()));
      files.push_back(path.string());
    }
    classes.push_back(class_folder.filename().string());
  }
  const Shape shape{options.rows, options.columns, options.channels};
  const std::size_t count = classes.size();
  return {ByteImages(std::move(bytes), std::move(labels), shape, count, options.statistics), std::move(classes),
          std::move(files)};
}

}  // namespace algoperf
