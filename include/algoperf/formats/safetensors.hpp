// Safetensors (huggingface.co/docs/safetensors): a JSON header and raw arrays, readable by PyTorch, JAX and others
// without executing code from the file.
//
//   save_safetensors("model.safetensors", values_dict(loop), {{"epochs", "3"}});
//   load_values(load_safetensors("theirs.safetensors"), loop);
//
// In Python: safetensors.torch.load_file(path), safetensors.flax.load_file(path). Types and shapes are kept. Element
// types that this library does not compute with (F8_E4M3, F8_E5M2, C64, ...) are read and written unchanged; F4 and F6,
// which pack several elements into a byte, are refused. Needs nlohmann-json.
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../state/atomic_file.hpp"
#include "../state/read_file.hpp"
#include "concept.hpp"

namespace algoperf {

using Metadata = std::map<std::string, std::string>;

namespace detail {

inline void must_be_little_endian() {
  const std::uint16_t one = 1;
  unsigned char first;
  std::memcpy(&first, &one, 1);
  require(first == 1, "safetensors: this machine is big-endian, the format is little-endian");
}

// A JSON event handler that throws Error if an object has a key twice. The format forbids this, and parsers differ in
// which of the two they keep.
class DistinctKeys : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit DistinctKeys(const std::string& path) : path_(path) {}
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return true;
  }
  bool key(string_t& key) override {
    require(keys_.back().insert(key).second, path_, ": the header has the key '", key, "' twice in one object");
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

 private:
  const std::string& path_;
  std::vector<std::set<std::string>> keys_;  // of each open object
};

// Parses the header in two passes, because nlohmann's DOM parser with a callback takes time quadratic in the number of
// tensors.
inline nlohmann::json parse_header(const std::string& path, const char* begin, const char* end) {
  DistinctKeys distinct(path);
  const bool is_json = nlohmann::json::sax_parse(begin, end, &distinct);
  nlohmann::json header = is_json ? nlohmann::json::parse(begin, end, nullptr, false) : nlohmann::json();
  require(header.is_object(), path, ": the header is not a JSON object");
  return header;
}

// An entry of the header; [begin, end) is its range within the data.
struct SafetensorsEntry {
  std::string name;
  const NumberType* type;
  std::vector<std::size_t> shape;
  std::size_t begin, end;
};

// Parses one entry. Throws Error with the tensor's name.
inline SafetensorsEntry read_entry(const std::string& path, const std::string& name, const nlohmann::json& entry,
                                   std::size_t data_size) {
  const auto must = [&](bool holds, const auto&... what) { require(holds, path, ": tensor '", name, "' ", what...); };
  const auto is_size = [](const nlohmann::json& x) { return x.is_number_unsigned(); };
  must(entry.is_object() && entry.size() == 3 && entry.contains("dtype") && entry.contains("shape") &&
           entry.contains("data_offsets"),
       "must have dtype, shape and data_offsets, and nothing else");
  const nlohmann::json &dtype = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
  must(dtype.is_string(), "has a dtype that is not a string");
  SafetensorsEntry read{name, find_number_type(&NumberType::safetensors, dtype.get<std::string>()), {}, 0, 0};
  must(read.type != nullptr, "has an unknown dtype, '", dtype.get<std::string>(), "'");
  must(shape.is_array() && std::all_of(shape.begin(), shape.end(), is_size), "has a shape that is not a list of sizes");
  must(offsets.is_array() && offsets.size() == 2 && is_size(offsets[0]) && is_size(offsets[1]),
       "has data_offsets that are not two sizes");
  read.shape = shape.get<std::vector<std::size_t>>();
  read.begin = offsets[0].get<std::size_t>();
  read.end = offsets[1].get<std::size_t>();
  must(read.begin <= read.end && read.end <= data_size, "has data_offsets [", read.begin, ", ", read.end,
       "), but the data has ", data_size, " bytes");
  must(elements_within(read.shape, data_size) * read.type->bytes == read.end - read.begin, "has ",
       read.end - read.begin, " bytes, which does not match its shape and dtype");
  return read;
}

}  // namespace detail

// Writes the arrays and the metadata. Throws Error if the format has no name for an array's type, an array is called
// __metadata__, a string is not valid UTF-8, or the file cannot be written.
inline void save_safetensors(const std::string& path, const StateDict& dict, const Metadata& metadata = {}) {
  detail::must_be_little_endian();
  // Arrays with wide elements go first, so that each begins at a multiple of its element size, as PyTorch requires.
  std::vector<std::pair<const StateDict::Array*, const detail::NumberType*>> arrays;
  for (const StateDict::Array& array : dict.arrays()) {
    const detail::NumberType* const type = detail::find_number_type(&detail::NumberType::name, array.type);
    require(type != nullptr && *type->safetensors != 0, path, ": '", array.name, "' is ", array.type,
            ", which safetensors has no name for");
    require(array.name != "__metadata__", path, ": no array may be called __metadata__");
    arrays.emplace_back(&array, type);
  }
  std::stable_sort(arrays.begin(), arrays.end(),
                   [](const auto& a, const auto& b) { return a.second->bytes > b.second->bytes; });
  std::string text = "{";
  std::size_t end = 0;
  const auto add = [&](const std::string& name, const nlohmann::ordered_json& value) {
    text += (text.size() > 1 ? "," : "") + nlohmann::json(name).dump() + ":" + value.dump();
  };
  try {
    if (!metadata.empty()) add("__metadata__", metadata);
    for (const auto& [array, type] : arrays) {
      const std::size_t begin = std::exchange(end, end + array->bytes.size());
      add(array->name, {{"dtype", type->safetensors}, {"shape", array->shape}, {"data_offsets", {begin, end}}});
    }
  } catch (const nlohmann::json::exception&) {
    fail(path, ": a name or the metadata is not valid UTF-8");
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t size = text.size();
  AtomicFile file(path);
  file.write(&size, sizeof size);
  file.write(text);
  for (const auto& [array, type] : arrays) file.write(array->bytes.data(), array->bytes.size());
  file.commit();
}

// Reads all arrays. If `metadata` is not null, it receives the file's metadata. Throws Error with the file and, if a
// tensor is the cause, the tensor.
inline StateDict load_safetensors(const std::string& path, Metadata* metadata = nullptr) {
  detail::must_be_little_endian();
  const std::string bytes = read_file(path);
  std::uint64_t size = 0;
  require(bytes.size() >= sizeof size, path, ": is not a safetensors file: it has only ", bytes.size(), " bytes");
  std::memcpy(&size, bytes.data(), sizeof size);
  require(size <= bytes.size() - sizeof size, path, ": is not a safetensors file, or is truncated: a header of ", size,
          " bytes is declared, but ", bytes.size() - sizeof size, " follow");
  const char* const text = bytes.data() + sizeof size;
  const nlohmann::json header = detail::parse_header(path, text, text + size);

  const std::size_t data_size = bytes.size() - sizeof size - size;
  std::vector<detail::SafetensorsEntry> entries;
  Metadata found;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") {
      entries.push_back(detail::read_entry(path, name, entry, data_size));
      continue;
    }
    const auto is_string = [](const nlohmann::json& x) { return x.is_string(); };
    require(entry.is_object() && std::all_of(entry.begin(), entry.end(), is_string), path,
            ": the metadata is not an object of strings");
    found = entry.get<Metadata>();
  }
  // Sorted by position in the data, which must be contiguous.
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  StateDict dict;
  std::size_t at = 0;
  for (const detail::SafetensorsEntry& entry : entries) {
    require(entry.begin == at, path, ": tensor '", entry.name, "' begins at byte ", entry.begin,
            " of the data, expected ", at);
    const char* const data = text + size + std::exchange(at, entry.end);
    dict.set_bytes(entry.name, entry.type->name, entry.type->bytes, entry.shape,
                   {data, data + (entry.end - entry.begin)});
  }
  require(at == data_size, path, ": the data has ", data_size, " bytes, but the tensors cover ", at);
  if (metadata != nullptr) *metadata = std::move(found);
  return dict;
}

}  // namespace algoperf
