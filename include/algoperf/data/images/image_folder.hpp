// load_image_folder: an image classification data set from a folder with a subfolder per class. Link with
// algoperf::images.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
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
  std::size_t shorter = 0;                // pixels of an image's shorter side before the crop; 0: that covers the crop
  ChannelStatistics statistics = {};      // of byte / 255
  std::vector<std::string> classes = {};  // names of subfolders: label k is classes[k]; empty: those that are found
};

struct ImageFolder {
  ByteImages images;
  std::vector<std::string> classes;  // label k is classes[k]
  std::vector<std::string> files;    // of each image
};

// The mean and standard deviation of ImageNet's training images, as in torchvision's pretrained models.
inline constexpr ChannelStatistics imagenet_statistics{{.485, .456, .406, 0}, {.229, .224, .225, 1}};

namespace detail {

inline bool is_image_file(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

// Returns the sorted paths in a folder that `accept` accepts. With `deeply`, also searches all subfolders.
template <class Accept>
std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder, bool deeply, const Accept& accept) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  std::filesystem::recursive_directory_iterator each(folder, error);
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
// A subfolder may be a link, but links within it are not followed to other folders.
//   const ImageFolder train = load_image_folder("pets/train", {.rows = 64, .columns = 64});
//   const ImageFolder others = load_image_folder("pets/others", {.rows = 64, .columns = 64, .classes = train.classes});
// torchvision: ImageFolder, with Resize, CenterCrop and Normalize.
// Throws Error, naming the file or folder, if there is no subfolder, a class has no image, a subfolder is none of
// options.classes, or an image is damaged.
inline ImageFolder load_image_folder(const std::string& folder, const ImageFolderOptions& options = {}) {
  detail::check_size(options.rows, options.columns, "load_image_folder");
  require(options.channels == 1 || options.channels == 3, "load_image_folder: channels is ", options.channels,
          ", expected 1 or 3");
  const auto class_folders = detail::paths_in(folder, false, [](const auto& entry) {
    std::error_code error;
    return entry.is_directory(error);
  });
  require(!class_folders.empty(), folder, ": there is no subfolder, expected one for each class");
  std::vector<std::string> classes = options.classes, files;
  if (classes.empty())
    for (const std::filesystem::path& path : class_folders) classes.push_back(path.filename().string());
  std::vector<std::uint8_t> bytes;
  std::vector<std::int32_t> labels;
  for (const std::filesystem::path& class_folder : class_folders) {
    const auto label = std::find(classes.begin(), classes.end(), class_folder.filename().string());
    require(label != classes.end(), class_folder.string(), ": the folder is none of the ", classes.size(), " classes");
    const auto images = detail::paths_in(class_folder, true, [](const auto& entry) {
      std::error_code error;
      return entry.is_regular_file(error) && detail::is_image_file(entry.path());
    });
    require(!images.empty(), class_folder.string(), ": there is no image, expected files .png, .jpg or .jpeg");
    for (const std::filesystem::path& path : images) {
      detail::append_pixels(fitted(load_image(path.string()), options.rows, options.columns, options.shorter),
                            options.channels, bytes);
      labels.push_back(static_cast<std::int32_t>(label - classes.begin()));
      files.push_back(path.string());
    }
  }
  const Shape shape{options.rows, options.columns, options.channels};
  const std::size_t count = classes.size();
  return {ByteImages(std::move(bytes), std::move(labels), shape, count, options.statistics), std::move(classes),
          std::move(files)};
}

}  // namespace algoperf
