#pragma once

#include <cstdint>
#include <string>

#include "../core/tuple.hpp"
#include "../data/readers/csv.hpp"
#include "../data/readers/hashed_columns.hpp"
#include "../nn/losses/sigmoid_cross_entropy.hpp"
#include "../nn/metrics/cross_entropy.hpp"
#include "../nn/models/dlrm.hpp"
#include "concept.hpp"
#include "data_root.hpp"
#include "shared_data.hpp"
#include "variants.hpp"

namespace algoperf {

struct AdultDlrmLayerNorm;
struct AdultDlrmEmbedInit;
struct AdultDlrmResnet;

// A DLRM with 78,833 parameters, and its variants, with AlgoPerf's names. AdamW reaches target_nats within step_hint()
// steps (benchmarks/workloads_to_target.cpp).
struct AdultDlrm {
  static constexpr const char* name = "dlrm";
  using Variants = Tuple<AdultDlrmLayerNorm, AdultDlrmEmbedInit, AdultDlrmResnet>;
  static constexpr double target_nats = 0.317;
  static constexpr Dlrm model() { return {}; }
};
// A layer norm after each hidden layer and after the table.
struct AdultDlrmLayerNorm : AdultDlrm {
  using Base = AdultDlrm;
  static constexpr const char* variant = "layernorm";
  static constexpr double target_nats = 0.326;
  static constexpr Dlrm model() { return {.layer_norm = true}; }
};
// The table starts uniform in [0, 1).
struct AdultDlrmEmbedInit : AdultDlrm {
  using Base = AdultDlrm;
  static constexpr const char* variant = "embed_init";
  static constexpr Dlrm model() { return {.table_init = Init::uniform(0, 1)}; }
};
// Residual connections instead of dot interactions.
struct AdultDlrmResnet : AdultDlrm {
  using Base = AdultDlrm;
  static constexpr const char* variant = "resnet";
  static constexpr Dlrm model() { return {.bottom = {64, 64, 64}, .top = {64, 64, 64, 64}, .residual = true}; }
};

// AlgoPerf's criteo1tb in miniature, on the UCI Adult table in `data`/adult/adult.csv, plain or gzipped: whether a
// person earns more than 50,000 dollars, from six numbers and eight categories. Of 30,162 rows, the last 3,162 are for
// testing and the 3,000 before them for validation. The target is a cross-entropy in nats.
template <class Network>
struct AdultWorkload {
  std::string name = "adult_" + detail::network_name<Network>();
  std::string base = "adult_" + detail::base_network_name<Network>();
  std::string data = data_root();
  double target_nats = Network::target_nats;
  detail::SharedData<NumbersAndCategories> rows = {};

  auto model() const { return Network::model(); }
  SigmoidCrossEntropy loss() const { return {}; }
  CrossEntropy metric() const { return {}; }
  Target target() const { return {target_nats, true}; }
  std::uint64_t step_hint() const { return 3000; }
  Slice<NumbersAndCategories> train() const { return load().subset(0, 24000); }
  Slice<NumbersAndCategories> validation() const { return load().subset(24000, 27000); }
  Slice<NumbersAndCategories> test() const { return load().subset(27000, load().size()); }
  template <class Visit>
  void each_variant(const Visit& visit) const {
    detail::each_variant<Network>([&]<class V>() { visit(AdultWorkload<V>{.data = data}); });
  }

 private:
  const NumbersAndCategories& load() const {
    const std::string path = data + "/adult/adult.csv";
    return rows("hashed columns, " + path, [&] {
      NumbersAndCategories found = hashed_columns(load_csv(path, {.label = "income"}));
      require(found.size() == 30162, path, ": there are ", found.size(), " rows, expected Adult's 30162");
      return found;
    });
  }
};

using Adult = AdultWorkload<AdultDlrm>;

}  // namespace algoperf
