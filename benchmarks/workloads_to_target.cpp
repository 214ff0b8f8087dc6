// Trains the models of the workloads, and of their variants, to their targets on one thread. The rule is AdamW unless
// stated otherwise. On Shakespeare's plays: a Transformer, an LSTM, BERT (also by LAMB, and by AdamW and LAMB with
// Adasum over four virtual workers) and SIBERT (by SGD with relative clipping). On CIFAR-10: ResNet-8, ResNet-20,
// VGG-11 and a Vision Transformer. On other data: the recommendation model of Adult, the graph networks of three data
// sets (variants only of NCI1), the U-Net of phantoms, two recognisers of spoken digits, and a Transformer that
// translates. Then the same models on digits and synthetic data. Two seeds each, some hours in total.
// ALGOPERF_DATA names the data folder.
//   bench_workloads_to_target --benchmark_filter=lm
#include <algoperf/algoperf.hpp>
#include <algoperf/benchmark/all.hpp>
#include <algoperf/workloads/adult.hpp>
#include <algoperf/workloads/cifar10.hpp>
#include <algoperf/workloads/digit_strings.hpp>
#include <algoperf/workloads/glyph_digits.hpp>
#include <algoperf/workloads/markov_lm.hpp>
#include <algoperf/workloads/mnist.hpp>
#include <algoperf/workloads/motif_graphs.hpp>
#include <algoperf/workloads/multi30k.hpp>
#include <algoperf/workloads/phantoms.hpp>
#include <algoperf/workloads/reversed_translation.hpp>
#include <algoperf/workloads/shakespeare_lm.hpp>
#include <algoperf/workloads/shakespeare_masked_lm.hpp>
#include <algoperf/workloads/synthetic_clicks.hpp>
#include <algoperf/workloads/touch_tones.hpp>
#include <algoperf/workloads/tu_graphs.hpp>

namespace ap = algoperf;

namespace {

template <class Workload, class Rule, class... Combination>
void trials(const std::string& name, const Workload& workload, const Rule& rule, double peak, std::size_t batch,
            std::uint64_t evaluations = 40, const Combination&... combination) {
  const std::uint64_t steps = workload.step_hint();
  ap::register_time_to_target("time_to_target/" + name,
                              ap::TimeToTargetOptions{.budget = steps, .every = steps / evaluations}, workload, rule,
                              ap::WarmupCosine{.peak = peak, .warmup = steps / 20, .total = steps},
                              ap::ShuffledEpochs{.batch = batch}, ap::Host<>{.threads = 1}, combination...)
      ->Repetitions(2);
}

}  // namespace

int main(int count, char** words) {
  const ap::ShakespeareLm lm;
  trials("shakespeare_lm", lm, ap::adamw({.beta2 = 0.95, .weight_decay = 0.1}), 1e-2, lm.batch_size());
  const ap::ShakespeareLstm lstm;
  trials("shakespeare_lstm", lstm, ap::adamw({.beta2 = 0.95, .weight_decay = 0.01}), 2e-2, lstm.batch_size());
  const ap::ShakespeareBert bert;
  trials(bert.name, bert, ap::adamw({.beta2 = 0.98, .weight_decay = 0.02}), 2e-3, bert.batch_size());
  trials(bert.name + "_lamb", bert, ap::lamb({.weight_decay = 0.02}), 5e-3, bert.batch_size());
  const ap::InProcess workers{.workers = 4};
  trials(bert.name + "_adasum", bert, ap::adamw({.beta2 = 0.98, .weight_decay = 0.02}), 1e-3, bert.batch_size(), 40,
         ap::Adasum{}, workers);
  trials(bert.name + "_lamb_adasum", bert, ap::lamb({.weight_decay = 0.02}), 1.5e-3, bert.batch_size(), 40,
         ap::Adasum{}, workers);
  const ap::ShakespeareSibert sibert;
  trials(sibert.name, sibert, ap::relative_clipped_sgd({.weight_decay = 1e-5}), 5, sibert.batch_size());
  const auto with_variants = [](const auto& task, double peak, double decay) {
    const auto run = [&](const auto& each) { trials(each.name, each, ap::adamw({.weight_decay = decay}), peak, 128); };
    run(task);
    task.each_variant(run);
  };
  with_variants(ap::Cifar10{}, 1e-2, 0.05);
  with_variants(ap::Cifar10ResNet20{}, 1e-2, 0.05);
  const auto vgg = [](const auto& task) {
    trials(task.name, task, ap::adamw({.weight_decay = 0.05}), task.name.ends_with("norm") ? 4e-3 : 2e-3, 128);
  };
  vgg(ap::Cifar10Vgg{});
  ap::Cifar10Vgg{}.each_variant(vgg);
  with_variants(ap::Cifar10Vit{}, 2e-3, 0.05);
  const auto graphs = [](const auto& task) {
    trials(task.name, task, ap::adamw({.weight_decay = 0.02}), task.name.ends_with("model_size") ? 1e-3 : 3e-3, 128);
  };
  graphs(ap::Nci1{});
  ap::Nci1{}.each_variant(graphs);
  trials("proteins_gnn", ap::Proteins{}, ap::adamw({.weight_decay = 0.02}), 3e-3, 128);
  trials("mutag_gnn", ap::Mutag{}, ap::adamw({.weight_decay = 0.02}), 3e-3, 32, 60);
  with_variants(ap::Adult{}, 1e-3, 0.05);
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
  const auto adam = [](const auto& task, double peak, std::size_t batch, double decay, double beta2 = 0.999) {
    trials(task.name, task, ap::adamw({.beta2 = beta2, .weight_decay = decay}), peak, batch, 30);
  };
  adam(ap::MnistResNet{}, 1e-2, 128, 0.05);
  adam(ap::MnistVit{}, 2e-3, 128, 0.05);
  adam(ap::GlyphDigitsResNet{}, 1e-2, 128, 0.05);
  adam(ap::GlyphDigitsVit{}, 2e-3, 128, 0.05);
  adam(ap::MarkovLm{}, 1e-2, ap::MarkovLm{}.batch_size(), 0.1, 0.95);
  adam(ap::SyntheticClicks{}, 3e-3, 128, 0.05);
  adam(ap::MotifGraphSearch{}, 3e-3, 128, 0.02);
  adam(ap::TouchToneStrings{}, 1e-2, ap::TouchToneStrings{}.batch_size(), 0.02);
  adam(ap::TouchToneStringsConformer{}, 1e-2, ap::TouchToneStrings{}.batch_size(), 0.02);
  adam(ap::ReversedTranslation{}, 1e-2, ap::ReversedTranslation{}.batch_size(), 0.02, 0.98);
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
