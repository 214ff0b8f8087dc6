// Predictor: a model for inference. It holds the model's parameters and the activations of one batch, but no loss,
// rule, gradient or schedule. It is not thread-safe: use one per thread.
//
//   Predictor predictor(mlp(Shape{28, 28, 1}, {64}, 10));
//   load_evaluation_values("best.checkpoint", predictor);      or load_values, from a checkpoint or a dict
//   const std::vector<float> logits = predictor.predict(test);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "../core/layout.hpp"
#include "../data/concept.hpp"
#include "../data/unlabelled.hpp"
#include "../nn/init.hpp"
#include "batch_executor.hpp"
#include "check_fields.hpp"

namespace algoperf {

template <class ModelType, class BackendType = Host<float>>
class Predictor {
 public:
  using Backend = BackendType;
  using Scalar = typename Backend::Scalar;

  // Predicts for up to `batch` examples at a time. The parameters have no values yet: load them with load_values() or
  // load_evaluation_values() (loop/checkpoint.hpp), or write them through values().
  explicit Predictor(const ModelType& model, const Backend& backend = {}, std::size_t batch = 256)
      : model_(model),
        backend_(backend),
        recorded_(KeepOutputs{model}),
        work_(backend_, recorded_, checked(batch), batch, {.training = false}) {
    values_ = backend_.template array<Scalar>(layout().size());
    std::vector<Scalar> first(layout().size());
    Initializer<Scalar> set(layout(), first.data(), RandomKey{1});
    recorded_.initialize(set);
    backend_.write(first.size(), first.data(), values_.data());
  }
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  // Returns the outputs (logits) for every example of a data set, row by row, in host memory.
  template <class Data>
  requires(Dataset<Data> || FieldDataset<Data>) std::vector<Scalar> predict(const Data& data) {
    require(given_, "Predictor: the parameters have no values yet: call load_values(path, predictor), or write them ",
            "through values()");
    detail::check_fits(recorded_.graph(), data, false);
    const Value& y = recorded_.outputs();
    const std::size_t width = recorded_.graph().axes[y.axis].rows * y.shape.size(), size = data.size(),
                      at_once = work_.batch.capacity();
    std::vector<Scalar> outputs(size * width);
    std::vector<Stored<Backend>> read;
    for (std::size_t begin = 0; begin < size; begin += at_once) {
      const std::size_t n = size - begin < at_once ? size - begin : at_once;
      work_.batch.load_range(backend_, data, begin, n);
      GraphExecutor<Backend>& executor = work_.executor_from(0);
      GraphPass<Backend> pass;
      pass.values = values_.data();
      pass.examples = n;
      pass.mode = Mode::evaluate;
      executor.forward(pass);
      read.resize(n * width);
      backend_.read(read.size(), executor.result(recorded_.outputs(), Mode::evaluate), read.data());
      std::copy(read.begin(), read.end(), outputs.begin() + static_cast<std::ptrdiff_t>(begin * width));
    }
    return outputs;
  }
  // The same for inputs without labels: rows of the model's input shape.
  template <class T>
  std::vector<Scalar> predict(const std::vector<T>& inputs) {
    return predict(Unlabelled<T>(inputs, recorded_.shape_of_example(recorded_.field("input"))));
  }

  // Returns the number of elements of an example's field "input".
  std::size_t input_size() const { return recorded_.shape_of_example(recorded_.field("input")).size(); }
  // Returns the number of rows of an example's outputs: 1, or one per token.
  std::size_t output_rows() const { return recorded_.graph().axes[recorded_.outputs().axis].rows; }
  const ModelType& model() const { return model_; }
  const Layout& layout() const { return recorded_.layout(); }
  const Backend& backend() const { return backend_; }
  // Return the parameters, an arena in the backend's memory with layout(), or a single tensor of them by name. The
  // caller of the functions that are not const must write them.
  Scalar* values() {
    given_ = true;
    return values_.data();
  }
  const Scalar* values() const { return values_.data(); }
  std::span<Scalar> values(const std::string& tensor) {
    const TensorPlace place = layout().place_of(layout().find(tensor));
    return {values() + place.offset, place.size};
  }
  std::span<const Scalar> values(const std::string& tensor) const {
    const TensorPlace place = layout().place_of(layout().find(tensor));
    return {values() + place.offset, place.size};
  }

 private:
  struct KeepOutputs {
    const ModelType& model;
    template <class Net>
    Value operator()(Net& net) const {
      const Value outputs = model(net);
      net.keep(outputs);
      return outputs;
    }
  };
  static std::size_t checked(std::size_t batch) {
    require(batch > 0 && batch <= UINT32_MAX, "Predictor: the batch is ", batch, ", expected 1 to ", UINT32_MAX);
    return batch;
  }

  ModelType model_;
  Backend backend_;
  RecordedModel<Backend> recorded_;
  BatchExecutor<Backend> work_;
  typename Backend::template Array<Scalar> values_;
  bool given_ = false;
};

}  // namespace algoperf
