// Ensemble: trained networks that predict together.
//
//   Ensemble ensemble(first, second, third);       // Predictors with loaded values; their models may differ
//   const std::vector<float> logits = ensemble.predict(test);
//   const double error = ensemble.evaluate(test, ErrorRate{});
//
// sum_rule() combines outputs that come from elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/math.hpp"
#include "../data/token_sequences.hpp"
#include "evaluation_sums.hpp"
#include "predictor.hpp"

namespace algoperf {

namespace detail {

// log(exp(a) + exp(b))
inline double log_of_sum(double a, double b) {
  const double most = a > b ? a : b;
  return most == -__builtin_inf() ? most : most + math::log(math::exp(a - most) + math::exp(b - most));
}
inline double log_sigmoid(double z) { return -log_of_sum(0, -z); }

// Returns the labels of all examples, row by row.
template <class Data>
std::vector<std::int32_t> labels_of(const Data& data) {
  std::vector<std::int32_t> labels;
  if constexpr (FieldDataset<Data>) {
    for (const std::vector<std::int32_t>& rows : token_sequences(data, "label"))
      labels.insert(labels.end(), rows.begin(), rows.end());
  } else {
    std::vector<typename Data::Input> input(data.shape().size());
    labels.resize(data.size());
    for (std::size_t i = 0; i < data.size(); ++i) {
      const auto index = static_cast<std::uint32_t>(i);
      data.gather(&index, 1, input.data(), &labels[i]);
    }
  }
  return labels;
}

}  // namespace detail

// Combines the logits of several networks for the same rows of `width` elements by the sum rule: returns logits whose
// softmax is the mean of the networks' softmax. With width 1, an output is the logit of label 1, and sum_rule averages
// the sigmoids. Computed in double. For networks whose outputs are not the logits of one class per row, such as several
// independent sigmoids, it is meaningless.
// Source: Kittler et al. 1998, "On combining classifiers", equation 11, with equal priors.
// Throws Error unless there are outputs, all of one size, which is a multiple of `width`.
template <class S>
std::vector<S> sum_rule(std::span<const std::vector<S>> outputs, std::size_t width) {
  require(!outputs.empty(), "sum_rule: there are no outputs, expected those of at least one network");
  const std::size_t size = outputs[0].size();
  require(width > 0 && size % width == 0, "sum_rule: there are ", size, " outputs and width is ", width,
          ", expected a positive width that divides them");
  for (std::size_t k = 0; k < outputs.size(); ++k)
    require(outputs[k].size() == size, "sum_rule: network ", k, " has ", outputs[k].size(), " outputs, network 0 has ",
            size, ", expected the same");
  std::vector<S> combined(size);
  // Per class: the log of its probability summed over networks. One logit stands for two classes: label 1, label 0.
  std::vector<double> sums(width == 1 ? 2 : width);
  for (std::size_t row = 0; row < size; row += width) {
    sums.assign(sums.size(), -__builtin_inf());
    for (const std::vector<S>& of : outputs) {
      const S* const z = of.data() + row;
      if (width == 1) {
        sums[0] = detail::log_of_sum(sums[0], detail::log_sigmoid(static_cast<double>(z[0])));
        sums[1] = detail::log_of_sum(sums[1], detail::log_sigmoid(-static_cast<double>(z[0])));
        continue;
      }
      double total = -__builtin_inf();
      for (std::size_t c = 0; c < width; ++c) total = detail::log_of_sum(total, static_cast<double>(z[c]));
      for (std::size_t c = 0; c < width; ++c) sums[c] = detail::log_of_sum(sums[c], static_cast<double>(z[c]) - total);
    }
    const double count = math::log(static_cast<double>(outputs.size()));
    for (std::size_t c = 0; c < width; ++c)
      combined[row + c] = static_cast<S>(width == 1 ? sums[0] - sums[1] : sums[c] - count);
  }
  return combined;
}

// The ensemble keeps pointers to the predictors, which must outlive it.
template <class First, class... Predictors>
class Ensemble {
 public:
  using Scalar = typename First::Scalar;
  static_assert((std::is_same_v<Scalar, typename Predictors::Scalar> && ...),
                "algoperf: the predictors of an ensemble have different scalar types");

  // Throws Error unless the outputs have rows of the same number of classes.
  explicit Ensemble(First& first, Predictors&... others) : members_(&first, &others...) {
    const std::size_t width = this->width();
    std::size_t k = 0;
    std::apply(
        [&](const auto*... member) {
          ((require(member->output_width() == width, "Ensemble: predictor ", k, " has ", member->output_width(),
                    " outputs per row, expected ", width, " as predictor 0"),
            ++k),
           ...);
        },
        members_);
  }

  // Returns the logits of all examples by sum_rule(), in host memory.
  template <class Data>
  std::vector<Scalar> predict(const Data& data) {
    const auto all = std::apply(
        [&](auto*... member) { return std::vector<std::vector<Scalar>>{member->predict(data)...}; }, members_);
    return sum_rule<Scalar>(all, width());
  }
  // Returns `metric` of the logits of predict(data), in which all rows have the same weight. The metric must compare
  // each row with an integer label, and must read no field other than "label". Throws Error unless each row has a label
  // below the number of classes.
  template <class Data, class Metric>
  double evaluate(const Data& data, const Metric& metric) {
    static_assert(!GeneratingMetric<Metric>, "algoperf: an ensemble does not support metrics that run the model");
    const std::vector<Scalar> outputs = predict(data);
    const std::vector<std::int32_t> labels = detail::labels_of(data);
    const std::size_t rows = outputs.size() / width();
    require(labels.size() == rows, "Ensemble: there are ", rows, " rows of outputs and ", labels.size(),
            " labels, expected the same");
    const std::size_t classes = width() == 1 ? 2 : width();
    for (std::size_t i = 0; i < rows; ++i)
      require(labels[i] >= 0 && static_cast<std::size_t>(labels[i]) < classes, "Ensemble: label ", i, " is ", labels[i],
              ", expected [0, ", classes, ")");
    detail::EvaluationSums<Metric> sums;
    sums.weight = static_cast<double>(rows);
    if constexpr (AccumulatingMetric<Metric>) {
      const std::size_t each = std::get<0>(members_)->output_rows();
      metric.add(sums.state, EvaluatedRows<Scalar, std::int32_t>{
                                 rows, width(), outputs.data(), labels.data(), nullptr, data.size(), {each}, {each}});
    } else {
      std::vector<Scalar> scores(rows);
      metric.write(Host<Scalar>{}, rows, width(), outputs.data(), labels.data(), scores.data());
      for (const Scalar score : scores) sums.state += static_cast<double>(score);
    }
    return sums.metric(metric);
  }

 private:
  std::size_t width() const { return std::get<0>(members_)->output_width(); }

  std::tuple<First*, Predictors*...> members_;
};

}  // namespace algoperf
