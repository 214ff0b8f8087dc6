#include "algoperf/formats/safetensors.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../support/folder.hpp"
#include "algoperf/algoperf.hpp"
#include "algoperf/state/cast.hpp"
#include "sentence.hpp"

namespace ap = algoperf;

namespace {

ap::StateDict every_type() {
  ap::StateDict dict;
  dict.set("a", std::vector<float>{1, -2.5f, 3});
  dict.set("b.matrix", std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  dict.set("number", std::uint64_t{1} << 63);
  dict.set("half", std::vector{ap::float16(1.5f), ap::float16(-2)});
  dict.set("brain", std::vector{ap::bfloat16(1.5f)});
  dict.set("bytes", std::vector<std::uint8_t>{0, 255});
  dict.set("small", std::vector<std::int8_t>{-128, 127});
  dict.set("tokens", std::vector<std::int32_t>{-1, 7});
  dict.set("none", std::vector<std::int64_t>{});
  return dict;
}

// Returns a file with this header and data.
std::string file_of(const std::string& header, const std::string& data = {}) {
  const std::uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), 8) + header + data;
}

}  // namespace

TEST_CASE("types, shapes, metadata and bits round-trip") {
  const Folder folder;
  const std::string path = folder / "x.safetensors";
  const ap::StateDict dict = every_type();
  ap::save_safetensors(path, dict, {{"made by", "a test"}, {"é", "ü"}});
  ap::Metadata metadata;
  const ap::StateDict found = ap::load_safetensors(path, &metadata);
  REQUIRE(found.arrays().size() == dict.arrays().size());
  for (const ap::StateDict::Array& array : dict.arrays()) CHECK(found.at(array.name) == array);
  CHECK(metadata == ap::Metadata{{"made by", "a test"}, {"é", "ü"}});
  CHECK(found.at("number").shape.empty());
}

TEST_CASE("the file follows the format, with data at a multiple of eight bytes") {
  const Folder folder;
  ap::StateDict dict;
  dict.set("x", std::vector<float>{1, 2}, {1, 2});
  ap::save_safetensors(folder / "x", dict);
  const std::string header = R"({"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  const std::string data("\0\0\x80\x3f\0\0\0\x40", 8);
  CHECK(bytes_of(folder / "x") == file_of(header + std::string((8 - header.size() % 8) % 8, ' '), data));
}

TEST_CASE("headers of any length are padded with blanks to a multiple of eight bytes") {
  const Folder folder;
  const std::string path = folder / "x";
  std::size_t blanks = 0;
  for (std::size_t length = 1; length <= 8; ++length) {
    ap::StateDict dict;
    dict.set(std::string(length, 'n'), std::vector<float>{1, 2});
    ap::save_safetensors(path, dict);
    const std::string bytes = bytes_of(path);
    const std::string header =
        R"({")" + std::string(length, 'n') + R"(":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    const std::size_t padding = (8 - header.size() % 8) % 8;
    CHECK(bytes == file_of(header + std::string(padding, ' '), std::string("\0\0\x80\x3f\0\0\0\x40", 8)));
    CHECK(ap::load_safetensors(path).get<float>(std::string(length, 'n')) == std::vector<float>{1, 2});
    blanks |= std::size_t{1} << padding;
  }
  CHECK(blanks == 0xFF);  // every padding occurred
}

TEST_CASE("a file written by PyTorch is read") {  // tests/golden/make_formats.py
  const ap::StateDict dict = ap::load_safetensors(ALGOPERF_SOURCE_DIR "/tests/golden/formats/torch.safetensors");
  CHECK(dict.at("weight").shape == std::vector<std::size_t>{2, 3});
  CHECK(dict.get<float>("weight") == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(static_cast<float>(dict.get<ap::bfloat16>("brain")[1]) == -0.75f);
  CHECK(static_cast<float>(dict.get<ap::float16>("half")[0]) == 0.5f);
  CHECK(dict.get<std::int64_t>("step") == std::vector<std::int64_t>{12});
  CHECK(dict.at("step").shape.empty());
  CHECK(dict.at("flags").type == "bool");
}

TEST_CASE("types that this library does not compute with round-trip as bytes") {
  const Folder folder;
  const std::string path = ALGOPERF_SOURCE_DIR "/tests/golden/formats/torch_float8.safetensors";
  const ap::StateDict dict = ap::load_safetensors(path);
  CHECK(dict.at("eighth").type == "F8_E4M3");
  CHECK(dict.at("eighth").bytes == std::vector<unsigned char>{0x3c, 0xb4});
  CHECK(dict.at("other").type == "F8_E5M2");
  CHECK(dict.at("other").shape == std::vector<std::size_t>{2, 1});
  CHECK(dict.at("complex").type == "complex64");
  CHECK(dict.get<float>("single") == std::vector<float>{3});
  CHECK(sentence([&] { dict.get<float>("eighth"); }) == "state_dict: 'eighth' is F8_E4M3, expected float32");
  ap::save_safetensors(folder / "x", dict);
  for (const ap::StateDict::Array& array : ap::load_safetensors(folder / "x").arrays())
    CHECK(array == dict.at(array.name));
}

TEST_CASE("the size of an element is the number in the names of its type") {
  for (const algoperf::detail::NumberType& type : algoperf::detail::number_types) {
    CAPTURE(type.name);
    const std::string bits = type.safetensors, numpy = type.numpy;
    CHECK(8 * type.bytes == (bits == "BOOL" ? 8 : std::stoul(bits.substr(bits.find_first_of("123456789")))));
    if (!numpy.empty()) CHECK(type.bytes == std::stoul(numpy.substr(1)));
  }
}

TEST_CASE("each array begins at a multiple of its element size") {
  const Folder folder;
  ap::StateDict dict;
  dict.set("odd", std::vector<std::uint8_t>{1});
  dict.set("single", std::vector<float>{1, 2, 3});
  dict.set("t", std::uint64_t{5});
  ap::save_safetensors(folder / "x", dict);
  const std::string bytes = bytes_of(folder / "x");
  CHECK(bytes.find(R"("t":{"dtype":"U64","shape":[],"data_offsets":[0,8]})") != std::string::npos);
  CHECK(bytes.find(R"("single":{"dtype":"F32","shape":[3],"data_offsets":[8,20]})") != std::string::npos);
  CHECK(bytes.find(R"("odd":{"dtype":"U8","shape":[1],"data_offsets":[20,21]})") != std::string::npos);
}

TEST_CASE("a StateDict refuses invalid arrays and stays unchanged") {
  ap::StateDict dict;
  dict.set("x", std::vector<float>{1, 2});
  const auto unchanged = dict.arrays();
  CHECK(sentence([&] {
          dict.set("x", std::vector<float>{1, 2, 3}, {2, 2});
        }) == "state_dict: 'x' has 3 elements, but its shape has more");
  CHECK(sentence([&] {
          dict.set("x", std::vector<float>{1, 2, 3, 4}, {3});
        }) == "state_dict: 'x' has 4 elements, but its shape has 3");
  CHECK(sentence([&] { dict.set_bytes("x", "float32", 4, {1}, std::vector<unsigned char>(1000)); }) ==
        "state_dict: 'x' has 250 elements, but its shape has 1");
  CHECK(sentence([&] { dict.set_bytes("x", "float32", 4, {1}, std::vector<unsigned char>(5)); }) ==
        "state_dict: 'x' has 5 bytes, expected a multiple of 4");
  CHECK(sentence([&] {
          dict.reshape("x", {std::size_t{1} << 63, 4});
        }) == "state_dict: 'x' has 2 elements, but its shape has more");
  CHECK(dict.arrays() == unchanged);
  dict.set("none", std::vector<float>{}, {std::size_t{1} << 63, 4, 0});
  CHECK(dict.at("none").size == 0);
}

TEST_CASE("a transposed rule state is refused if the layout is known") {
  ap::Layout layout(1);
  layout.add({"w", ap::Kind::weight, {4, 3}});
  auto state = ap::adamw().state(ap::Host{}, layout);
  ap::StateDict dict = ap::state_dict(state, layout);
  ap::load_state_dict(dict, state, layout);
  dict.reshape("w/exp_avg", {3, 4});
  CHECK(sentence([&] { ap::load_state_dict(dict, state, layout); }) ==
        "state_dict: 'w/exp_avg' is of shape {3, 4}, expected {4, 3}");
}

TEST_CASE("evaluation_values_dict has the averaged parameters of a rule that averages") {
  const ap::InMemory<float> data(std::vector<float>(60, 0.5f), std::vector<std::int32_t>(10, 2), ap::Shape{6}, 3);
  ap::TrainingLoop loop(ap::mlp(ap::Shape{6}, {5}, 3), ap::SoftmaxCrossEntropy{},
                        ap::chain(ap::Momentum{}, ap::Descend{}, ap::WeightAverage{.decay = 0.9}), ap::Constant{0.1},
                        ap::ShuffledEpochs{.batch = 5});
  ap::TrainingLoop user(ap::mlp(ap::Shape{6}, {5}, 3), ap::SoftmaxCrossEntropy{}, ap::sgd(), ap::Constant{0.1},
                        ap::ShuffledEpochs{.batch = 5}, ap::Seed{9});
  for (int i = 0; i < 5; ++i) loop.step(data);
  CHECK(ap::evaluation_values_dict(loop).arrays() != ap::values_dict(loop).arrays());
  ap::load_values(ap::evaluation_values_dict(loop), user);
  CHECK(user.predict(data) == loop.predict(data));
  CHECK(ap::evaluation_values_dict(user).arrays() == ap::values_dict(user).arrays());
}

TEST_CASE("a loop's parameters and its rule's state") {
  const Folder folder;
  const auto model = ap::mlp(ap::Shape{6}, {5}, 3);
  const ap::InMemory<float> data(std::vector<float>(60, 0.5f), std::vector<std::int32_t>(10, 2), ap::Shape{6}, 3);
  const auto make = [&](std::uint64_t seed) {
    return ap::TrainingLoop(model, ap::SoftmaxCrossEntropy{}, ap::adamw(), ap::Constant{0.1},
                            ap::ShuffledEpochs{.batch = 5}, ap::Seed{seed});
  };
  auto trained = make(1), other = make(2);
  for (int i = 0; i < 3; ++i) trained.step(data);
  ap::save_safetensors(folder / "values", ap::values_dict(trained));
  const ap::StateDict values = ap::load_safetensors(folder / "values");
  CHECK(values.at("0.weight").shape == std::vector<std::size_t>{5, 6});
  ap::load_values(values, other);
  CHECK(ap::values_dict(other).arrays() == ap::values_dict(trained).arrays());
  CHECK(other.steps() == 0);

  // A rule's state on the caller's memory: after saving and loading, it continues identically.
  ap::Layout layout(1);
  layout.add({"w", ap::Kind::weight, {4, 3}});
  const auto rule = ap::adamw();
  auto state = rule.state(ap::Host{}, layout), again = rule.state(ap::Host{}, layout);
  std::vector<float> p(12, 1), q, g(12, 0.5f);
  rule.step(std::span(g), std::span(p), state, {.t = 1, .learning_rate = 0.1});
  q = p;
  ap::save_safetensors(folder / "state", ap::state_dict(state, layout));
  const ap::StateDict saved = ap::load_safetensors(folder / "state");
  CHECK(saved.at("w/exp_avg").shape == std::vector<std::size_t>{4, 3});
  ap::load_state_dict(saved, again, layout);
  rule.step(std::span(g), std::span(p), state, {.t = 2, .learning_rate = 0.1});
  rule.step(std::span(g), std::span(q), again, {.t = 2, .learning_rate = 0.1});
  CHECK(p == q);
}

TEST_CASE("invalid values are refused by name, and nothing is changed") {
  auto loop = ap::TrainingLoop(ap::mlp(ap::Shape{6}, {5}, 3), ap::SoftmaxCrossEntropy{}, ap::sgd(), ap::Constant{0.1},
                               ap::ShuffledEpochs{.batch = 5});
  const ap::StateDict before = ap::values_dict(loop);
  const auto told = [&](const auto& change) {
    ap::StateDict dict = before;
    change(dict);
    const std::string what = sentence([&] { ap::load_values(dict, loop); });
    CHECK(ap::values_dict(loop).arrays() == before.arrays());
    return what;
  };
  CHECK(told([](auto& dict) {
          dict.reshape("0.weight", {6, 5});
        }) == "load_values: '0.weight' has shape {6, 5}, expected {5, 6}");
  CHECK(told([](auto& dict) { dict.set("9.weight", 1.0f); }) == "load_values: '9.weight' is not a tensor of the model");
  CHECK(told([](auto& dict) { dict.set("2.bias", std::vector<double>(3)); }) ==
        "state_dict: '2.bias' is float64, expected float32");
  CHECK(told([](auto& dict) {
          ap::StateDict less;
          less.set("0.weight", dict.template get<float>("0.weight"), {5, 6});
          dict = less;
        }) == "state_dict: there is no array '0.bias'");
  ap::StateDict head;
  head.set("2.weight", std::vector<float>(15, 7.0f), {3, 5});
  head.set("2.bias", std::vector<float>(3, 7.0f));
  ap::load_values(head, loop, [](const ap::TensorSpec& tensor) { return tensor.output; });
  CHECK(loop.values("2.weight")[14] == 7);
  CHECK(sentence([&] { ap::load_values(head, loop, [](const ap::TensorSpec&) { return false; }); }) ==
        "load_values: no tensor of the model was selected");
}

TEST_CASE("16-bit values are loaded into a loop of floats through cast") {
  const Folder folder;
  const auto make = [](std::uint64_t seed) {
    return ap::TrainingLoop(ap::mlp(ap::Shape{6}, {5}, 3), ap::SoftmaxCrossEntropy{}, ap::sgd(), ap::Constant{0.1},
                            ap::ShuffledEpochs{.batch = 5}, ap::Seed{seed});
  };
  auto from = make(1), to = make(2);
  ap::save_safetensors(folder / "half", ap::cast<ap::bfloat16>(ap::values_dict(from)));
  const ap::StateDict half = ap::load_safetensors(folder / "half");
  CHECK(sentence([&] { ap::load_values(half, to); }) == "state_dict: '0.weight' is bfloat16, expected float32");
  ap::load_values(ap::cast<float>(half), to);
  for (std::size_t i = 0; i < 30; ++i)
    CHECK(to.values("0.weight")[i] == static_cast<float>(ap::bfloat16(from.values("0.weight")[i])));
}

TEST_CASE("invalid files are refused with their error messages") {
  const Folder folder;
  const std::string path = folder / "x";
  const auto told = [&](const std::string& bytes) {
    folder.write("x", bytes);
    return sentence(path, [&] { ap::load_safetensors(path); });
  };
  const auto entry = [&](const std::string& rest, const std::string& data = {}) {
    return told(file_of(R"({"w":{)" + rest + "}}", data));
  };
  CHECK(told("") == ": is not a safetensors file: it has only 0 bytes");
  CHECK(
      told(std::string(8, '\xff') + "{}") ==
      ": is not a safetensors file, or is truncated: a header of 18446744073709551615 bytes is declared, but 2 follow");
  CHECK(told(file_of("{")) == ": the header is not a JSON object");
  CHECK(told(file_of("[]")) == ": the header is not a JSON object");
  CHECK(told(file_of(R"({"__metadata__":{"a":1}})")) == ": the metadata is not an object of strings");
  CHECK(entry(R"("dtype":"F32","shape":[])") ==
        ": tensor 'w' must have dtype, shape and data_offsets, and nothing else");
  CHECK(entry(R"("dtype":3,"shape":[],"data_offsets":[0,4])") == ": tensor 'w' has a dtype that is not a string");
  CHECK(entry(R"("dtype":"F8","shape":[],"data_offsets":[0,4])") == ": tensor 'w' has an unknown dtype, 'F8'");
  CHECK(entry(R"("dtype":"F4","shape":[2],"data_offsets":[0,1])", "1") == ": tensor 'w' has an unknown dtype, 'F4'");
  // Parsers differ in which of two equal keys they keep.
  const std::string w = R"({"dtype":"U8","shape":[],"data_offsets":[0,1]})";
  CHECK(told(file_of(R"({"w":)" + w + R"(,"w":)" + w + "}", "1")) ==
        ": the header has the key 'w' twice in one object");
  CHECK(entry(R"("dtype":"U8","dtype":"I8","shape":[],"data_offsets":[0,1])", "1") ==
        ": the header has the key 'dtype' twice in one object");
  CHECK(told(file_of(R"({"__metadata__":{"a":"1","a":"2"}})")) == ": the header has the key 'a' twice in one object");
  CHECK(told(file_of(R"({"dtype":)" + w + "}", "1")).empty());  // the same key may occur in two objects
  CHECK(entry(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])") ==
        ": tensor 'w' has a shape that is not a list of sizes");
  CHECK(entry(R"("dtype":"F32","shape":[],"data_offsets":[0])") ==
        ": tensor 'w' has data_offsets that are not two sizes");
  CHECK(entry(R"("dtype":"F32","shape":[],"data_offsets":[0,4])") ==
        ": tensor 'w' has data_offsets [0, 4), but the data has 0 bytes");
  CHECK(entry(R"("dtype":"F32","shape":[3],"data_offsets":[0,4])", "1234") ==
        ": tensor 'w' has 4 bytes, which does not match its shape and dtype");
  // 2^62 * 4 floats would be 0 bytes if sizes wrapped around.
  CHECK(entry(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])") ==
        ": tensor 'w' has 0 bytes, which does not match its shape and dtype");
  CHECK(entry(R"("dtype":"U8","shape":[2],"data_offsets":[1,3])", "123") ==
        ": tensor 'w' begins at byte 1 of the data, expected 0");
  CHECK(entry(R"("dtype":"U8","shape":[2],"data_offsets":[0,2])", "123") ==
        ": the data has 3 bytes, but the tensors cover 2");
  CHECK(told(file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                     R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                     "123")) == ": tensor 'b' begins at byte 1 of the data, expected 2");

  ap::StateDict dict;
  dict.set("__metadata__", 1.0f);
  CHECK(sentence(path, [&] { ap::save_safetensors(path, dict); }) == ": no array may be called __metadata__");
}
