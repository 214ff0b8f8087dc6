// Ensemble: trained networks that predict together.
//
//   Ensemble ensemble(first, second, third);       // Predictors with values, also of different models
//   const std::vector<float> logits = ensemble.predict(test);
//   const double error = ensemble.evaluate(test, ErrorRate{});
//
// sum_rule() combines outputs that come from elsewhere.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../data/token_sequences.hpp"
#include "evaluation_sums.hpp"
#include "predictor.hpp"

namespace algoperf {

namespace detail {

// log(exp(a) + exp(b))
inline double log_of_sum(double a, double b) {
  const double most = a > b ? a : b;
  return most == -HUGE_VAL ? most : most + std::log(std::exp(a - most) + std::exp(b - most));
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
// softmax is the mean of the networks' softmax. Rows of one element are logits of label 1, so the mean is that of
// sigmoids. The largest logit of a row is that of the class with the largest sum of probabilities.
// Source: Kittler et al. 1998, "On combining classifiers", equation 11, with equal priors. Computed in double.
// Throws Error unless there are outputs, all of one size, which is a multiple of `width`.
template <class S>
std::vector<S> sum_rule(std::span<const std::vector<S>> outputs, std::size_t width) {
  require(!outputs.empty(), "sum_rule: there are no outputs, expected those of at least one network");
  const std::size_t size = outputs[0].size();
  require(width > 0 && size % width == 0, "sum_rule: there are ", size, " outputs, expected rows of ", width);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    require(outputs[k].size() == size, "sum_rule: network ", k, " has ", outputs[k].size(), " outputs, network 0 has ",
            size, ", expected the same");
  std::vector<S> combined(size);
  // Of each row: the logarithms of the sums of the probabilities. Of one logit: those of label 1 and of label 0.
  std::vector<double> sums(width == 1 ? 2 : width);
  for (std::size_t row = 0; row < size; row += width) {
    sums.assign(sums.size(), -HUGE_VAL);
    for (const std::vector<S>& of : outputs) {
      const S* const z = of.data() + row;
      if (width == 1) {
        sums[0] = detail::log_of_sum(sums[0], detail::log_sigmoid(static_cast<double>(z[0])));
        sums[1] = detail::log_of_sum(sums[1], detail::log_sigmoid(-static_cast<double>(z[0])));
        continue;
      }
      double total = -HUGE_VAL;
      for (std::size_t c = 0; c < width; ++c) total = detail::log_of_sum(total, static_cast<double>(z[c]));
      for (std::size_t c = 0; c < width; ++c) sums[c] = detail::log_of_sum(sums[c], static_cast<double>(z[c]) - total);
    }
    const double count = std::log(static_cast<double>(outputs.size()));
    for (std::size_t c = 0; c < width; ++c)
      combined[row + c] = static_cast<S>(width == 1 ? sums[0] - sums[1] : sums[c] - count);
  }
  return combined;
}

// Refers to the predictors, which must outlive it.
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
          ((require(member->output_width() == width, "Ensemble: predictor ", k, " has outputs of ",
                    member->output_width(), " classes, predictor 0 of ", width, ", expected the same"),
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
  // Returns a metric of these logits. The metric must compare each row with a class, and read no other field.
  template <class Data, class Metric>
  double evaluate(const Data& data, const Metric& metric) {
    const std::vector<Scalar> outputs = predict(data);
    const std::vector<std::int32_t> labels = detail::labels_of(data);
    const std::size_t rows = outputs.size() / width();
    require(labels.size() == rows, "Ensemble: there are ", rows, " rows of outputs and ", labels.size(),
            " labels, expected the same");
    detail::EvaluationSums<Metric> sums;
    sums.weight = static_cast<double>(rows);
    if constexpr (AccumulatingMetric<Metric>) {
      metric.add(sums.state, EvaluatedRows<Scalar, std::int32_t>{rows, width(), outputs.data(), labels.data()});
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
