// Predictor: a model for inference. It holds the model's parameters and the activations of one batch, but no loss,
// rule, gradient or schedule. It is not thread-safe: use one per thread.
//
//   Predictor predictor(mlp(Shape{28, 28, 1}, {64}, 10));
//   load_evaluation_values("best.checkpoint", predictor);      or load_values, from a checkpoint or a dict
//   const std::vector<float> logits = predictor.predict(test);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../core/layout.hpp"
#include "../data/concept.hpp"
#include "../data/unlabelled.hpp"
#include "../nn/init.hpp"
#include "check_fields.hpp"
#include "decoder.hpp"
#include "evaluator.hpp"

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
        evaluator_(backend, ModelFunctionRef<Backend>(KeepOutputs{model}), checked(batch), batch, {.training = false}) {
    values_ = evaluator_.model().initial_values(backend, RandomKey{1});
  }
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  // Returns the outputs (logits) for every example of a data set, row by row, in host memory.
  template <class Data>
  requires(Dataset<Data> || FieldDataset<Data>) std::vector<Scalar> predict(const Data& data) {
    check_given();
    detail::check_fits(evaluator_.graph(), data, false);
    return evaluator_.predict(data, values_.data(), evaluator_.work().at_once());
  }
  // The same for inputs without labels: rows of the model's input shape.
  template <class T>
  std::vector<Scalar> predict(const std::vector<T>& inputs) {
    return predict(Unlabelled<T>(inputs, input_shape()));
  }

  // Whether the model can have a decoder().
  bool decodes() const { return detail::decoding_obstacle(evaluator_.graph()).empty(); }
  // Returns a Decoder (decoder.hpp) with this model and these parameters. The Predictor must outlive it. Throws Error
  // if the parameters have no values yet, and as Decoder's constructor does.
  Decoder<Backend> decoder(const DecodingSizes& sizes = {}) const {
    check_given();
    return Decoder<Backend>(backend(), evaluator_.model(), values_.data(), sizes);
  }

  // Returns the number of elements of an example's field "input".
  std::size_t input_size() const { return input_shape().size(); }
  // Returns the number of elements of a row of outputs, such as the number of classes.
  std::size_t output_width() const { return evaluator_.model().outputs().shape.size(); }
  // Returns the number of rows of an example's outputs: 1, or one per token. Throws Error if examples have different
  // numbers of rows.
  std::size_t output_rows() const {
    const Axis& axis = evaluator_.graph().axes[evaluator_.model().outputs().axis];
    require(!axis.ragged, "Predictor: examples have different numbers of outputs, on the ragged axis '", axis.name,
            "'");
    return axis.rows;
  }
  const ModelType& model() const { return model_; }
  const Layout& layout() const { return evaluator_.model().layout(); }
  const Backend& backend() const { return evaluator_.backend(); }
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
  void check_given() const {
    require(given_, "Predictor: the parameters have no values yet: call load_values(path, predictor), or write them ",
            "through values()");
  }
  struct KeepOutputs {
    const ModelType& model;
    template <class Net>
    Value operator()(Net& net) const {
      const Value outputs = model(net);
      net.keep(outputs);
      return outputs;
    }
  };
  Shape input_shape() const { return evaluator_.model().shape_of_example(evaluator_.model().field("input")); }
  static std::size_t checked(std::size_t batch) {
    require(batch > 0 && batch <= UINT32_MAX, "Predictor: the batch is ", batch, ", expected 1 to ", UINT32_MAX);
    return batch;
  }

  ModelType model_;
  Evaluator<Backend> evaluator_;
  typename Backend::template Array<Scalar> values_;
  bool given_ = false;
};

}  // namespace algoperf
