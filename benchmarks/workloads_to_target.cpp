// Trains the models of ten workloads to their targets with AdamW on one thread: a Transformer and an LSTM on
// Shakespeare's plays, ResNet-8 and a Vision Transformer on CIFAR-10, the recommendation model of Adult, the graph
// network of NCI1, and with their variants the U-Net of phantoms, two recognisers of spoken digits and a Transformer
// that translates. Two seeds each, more than an hour in total.
// ALGOPERF_DATA names the data folder.
//   bench_workloads_to_target --benchmark_filter=lm
#include <algoperf/algoperf.hpp>
#include <algoperf/benchmark/all.hpp>
#include <algoperf/workloads/adult.hpp>
#include <algoperf/workloads/cifar10.hpp>
#include <algoperf/workloads/digit_strings.hpp>
#include <algoperf/workloads/multi30k.hpp>
#include <algoperf/workloads/nci1.hpp>
#include <algoperf/workloads/phantoms.hpp>
#include <algoperf/workloads/shakespeare_lm.hpp>

namespace ap = algoperf;

namespace {

template <class Workload, class Rule>
void trials(const std::string& name, const Workload& workload, const Rule& rule, double peak, std::size_t batch,
            std::uint64_t evaluations = 40) {
  const std::uint64_t steps = workload.step_hint();
  ap::register_time_to_target("time_to_target/" + name,
                              ap::TimeToTargetOptions{.budget = steps, .every = steps / evaluations}, workload, rule,
                              ap::WarmupCosine{.peak = peak, .warmup = steps / 20, .total = steps},
                              ap::ShuffledEpochs{.batch = batch}, ap::Host<>{.threads = 1})
      ->Repetitions(2);
}

}  // namespace

int main(int count, char** words) {
  const ap::ShakespeareLm lm;
  trials("shakespeare_lm", lm, ap::adamw({.beta2 = 0.95, .weight_decay = 0.1}), 1e-2, lm.batch_size());
  const ap::ShakespeareLstm lstm;
  trials("shakespeare_lstm", lstm, ap::adamw({.beta2 = 0.95, .weight_decay = 0.01}), 2e-2, lstm.batch_size());
  trials("cifar10_resnet8", ap::Cifar10{}, ap::adamw({.weight_decay = 0.05}), 1e-2, 128);
  trials("cifar10_vit", ap::Cifar10Vit{}, ap::adamw({.weight_decay = 0.05}), 2e-3, 128);
  trials("nci1_gnn", ap::Nci1{}, ap::adamw({.weight_decay = 0.02}), 3e-3, 128);
  trials("adult_dlrm", ap::Adult{}, ap::adamw({.weight_decay = 0.05}), 1e-3, 128);
  const auto phantoms = [](const auto& task) {
    trials(task.name, task, ap::adamw({.weight_decay = 0.02}), 2e-2, task.batch_size());
  };
  phantoms(ap::PhantomReconstruction{});
  ap::PhantomReconstruction{}.each_variant(phantoms);
  const auto digits = [](const auto& task) {
    trials(task.name, task, ap::adamw({.weight_decay = 0.02}), 1e-2, task.batch_size());
  };
  digits(ap::DigitStrings{});
  ap::DigitStrings{}.each_variant(digits);
  digits(ap::DigitStringsConformer{});
  ap::DigitStringsConformer{}.each_variant(digits);
  const auto translation = [](const auto& task) {
    const bool slow = task.name.ends_with("post_ln") || task.name.ends_with("attention_temp");
    trials(task.name, task, ap::adamw({.beta2 = 0.98, .weight_decay = 0.02}), slow ? 4e-3 : 1e-2, task.batch_size(),
           12);
  };
  translation(ap::Multi30k{});
  ap::Multi30k{}.each_variant(translation);
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
