// Training on several ranks, which are threads here: the results of one process, one error on all ranks, checkpoints.
#include <doctest/doctest.h>

#include <algoperf/combine/group/threads.hpp>
#include <algoperf/combine/local_steps.hpp>
#include <algoperf/loop/observers/orthogonality_log.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../support/near.hpp"
#include "ragged.hpp"
#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// Returns the sentences of the exceptions that f(group) throws on each rank.
template <class F>
std::vector<std::string> sentences_of_ranks(std::size_t ranks, const F& f) {
  std::vector<std::string> found(ranks);
  run_ranks(ranks, [&](Threads group) { found[group.rank()] = sentence([&] { f(group); }); });
  return found;
}

// What a rank ends with.
struct RankResult {
  std::vector<float> values;
  RunReport report;
};

// Returns what f(group), a training run, ends with on each rank.
template <class F>
std::vector<RankResult> on_ranks(std::size_t ranks, const F& f, std::size_t workers = 1) {
  std::vector<RankResult> found(ranks);
  run_ranks(ranks, [&](Threads group) {
    group.workers = workers;
    found[group.rank()] = f(group);
  });
  return found;
}

struct FailsAtTheEnd {
  static constexpr bool never_stops = true;
  bool fails;
  template <class Run>
  void end(Run&, const RunReport&) const {
    require(!fails, "the last word fails");
  }
};

template <class Loop, class... Observers>
RankResult run_for(Loop& loop, std::uint64_t steps, Observers&&... observers) {
  const Tiny task;
  const RunReport report = loop.run(task.train(), Evaluate{task, {.every = 5}}, UntilStep{steps}, observers...);
  return {values_of(loop), report};
}

}  // namespace

TEST_CASE_TEMPLATE("R ranks have the bits of R workers in one process", C, Mean, Adasum<Of::gradients>,
                   Adasum<Of::updates>) {
  const auto train = [](const auto& rule, const auto& group) {
    auto loop = tiny_loop(rule, 0.01, C{}, group);
    return run_for(loop, 12);
  };
  for (const std::size_t count : {1u, 2u, 3u, 5u, 8u}) {  // the batch is 32: equal and unequal parts
    CAPTURE(count);
    const auto same = [&](const auto& rule) {
      const RankResult alone = train(rule, InProcess{.workers = count});
      for (const RankResult& rank : on_ranks(count, [&](Threads group) { return train(rule, group); })) {
        CHECK(same_bits(rank.values, alone.values));
        CHECK(rank.report.last.loss == alone.report.last.loss);
        CHECK(rank.report.last.examples == alone.report.last.examples);
        CHECK(rank.report.best.metric == alone.report.best.metric);
        CHECK(rank.report.best.loss == near(alone.report.best.loss, 1e-12));
      }
    };
    same(adamw());
    same(sam(momentum()));
    same(chain(ClipByGlobalNorm{.max_norm = 0.1}, Momentum{}, Descend{}));
  }
}

TEST_CASE("local steps and DiLoCo on ranks have the bits of as many workers in one process") {
  for (const LocalSteps& combiner : {LocalSteps{.every = 3}, diloco(4)})
    for (const std::size_t each : {std::size_t{1}, std::size_t{2}}) {
      CAPTURE(each);
      const auto train = [&](const auto& group) {
        auto loop = tiny_loop(adamw(), 0.01, combiner, group);
        return run_for(loop, 14);
      };
      const RankResult expected = train(InProcess{.workers = 4});
      for (const RankResult& rank : on_ranks(4 / each, train, each)) {
        CHECK(same_bits(rank.values, expected.values));
        if (each == 1) CHECK(rank.report.last.loss == expected.report.last.loss);
      }
    }
}

TEST_CASE("several workers on each rank equal as many in one process, up to rounding") {
  const auto train = [](const auto& combiner, const auto& group) {
    auto loop = tiny_loop(momentum(), 0.05, combiner, group);
    return run_for(loop, 6).values;
  };
  const auto expected = train(Mean{}, InProcess{.workers = 6});
  const auto adasum = train(Adasum<>{}, InProcess{.workers = 6});
  run_ranks(3, [&](Threads group) {
    group.workers = 2;
    const auto found = train(Mean{}, group);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK_UNARY(std::fabs(found[i] - expected[i]) < 1e-5f);
    CHECK_UNARY(same_bits(train(Adasum<>{}, group), adasum));  // the same tree
  });
}

TEST_CASE("ranks split batches that are smaller than the number of ranks, and whose size changes") {
  const auto train = [](const auto& combiner, const auto& group, std::vector<std::uint32_t> examples) {
    Always selector(examples);
    selector.batch = 8;
    TrainingLoop loop(Tiny::model(), Tiny::loss(), adamw(), Constant{0.01}, selector, combiner, group);
    return run_for(loop, 3).values;
  };
  const auto check = [&](const auto& combiner) {
    for (const auto& examples : {range(0, 3), range(5, 6), range(10, 17)}) {
      const auto expected = train(combiner, InProcess{.workers = 8}, examples);
      run_ranks(8, [&](Threads group) { CHECK_UNARY(same_bits(train(combiner, group, examples), expected)); });
    }
  };
  check(Mean{});
  check(Adasum<Of::gradients>{});
  check(Adasum<Of::updates>{});  // a rank without examples does not step
  check(WorkerSum<Of::gradients>{});
  check(WorkerSum<Of::updates>{});
  // 256 examples in batches of 48: the last one of each epoch has 16.
  const auto epochs = [](const auto& group) {
    TrainingLoop loop(Tiny::model(), Tiny::loss(), adamw(), Constant{0.01}, ShuffledEpochs{.batch = 48}, Mean{}, group);
    return run_for(loop, 14).values;
  };
  const auto expected = epochs(InProcess{.workers = 5});
  for (const RankResult& rank : on_ranks(5, [&](Threads group) { return RankResult{epochs(group), {}}; }))
    CHECK(same_bits(rank.values, expected));
}

TEST_CASE("dropout, prefetching, weights, buffers, feedback and ragged examples work on ranks as in one process") {
  const Tiny task;
  const auto check = [](std::size_t count, const auto& train) {
    const auto expected = train(InProcess{.workers = count});
    run_ranks(count, [&](Threads group) {
      const auto found = train(group);
      REQUIRE_UNARY(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        CHECK_UNARY(std::fabs(double{found[i]} - double{expected[i]}) <= 1e-6 * (1 + std::fabs(double{expected[i]})));
    });
  };
  const auto loop_of = [](const auto& model, const auto& selector, const auto& group) {
    return TrainingLoop(model, Tiny::loss(), momentum(), Constant{0.05}, selector, Mean{}, group);
  };
  check(3, [&](const auto& group) {
    const auto model = Model(Shape{28, 28, 1}, Flatten{}, Dense{16}, BatchNorm{}, Relu{}, Dropout{0.5}, Dense{10});
    auto loop = loop_of(model, ShuffledEpochs{.batch = 32}, group);
    loop.run(prefetched(task.train()), UntilStep{5});
    return values_of(loop);
  });
  check(4, [&](const auto& group) {  // a selector that reads losses, and weights examples
    auto loop = loop_of(Tiny::model(), LossProportional{.batch = 32}, group);
    loop.run(task.train(), UntilStep{20});
    return values_of(loop);
  });
  check(2, [&](const auto& group) {  // a selector that reads the noise of gradients
    TrainingLoop loop(Tiny::model(), Tiny::loss(), momentum(), Constant{0.05},
                      scheduled_batch(ShuffledEpochs{.batch = 64}, NoiseScaleBatch{}), MeasuredMean{}, group);
    loop.run(task.train(), UntilStep{20});
    std::vector<float> found = values_of(loop);
    found.push_back(static_cast<float>(loop.last().examples));
    return found;
  });
}

TEST_CASE("ranks weight rows and examples without rows as workers do") {
  const auto data = ragged::weighted_sentences();
  const auto train = [&](const auto& loss, const auto& group) {
    TrainingLoop loop(ragged::Reader{}, loss, sgd(), Constant{0.1}, Always({0, 1, 2, 3, 4, 7, 9}), Mean{}, group,
                      Host<double>{});
    loop.run(data, UntilStep{4});
    auto values = values_of(loop);
    values.push_back(*loop.last().loss);
    values.push_back(loop.evaluate(data, CrossEntropy{}).loss);
    return values;
  };
  const auto compare = [&](const auto& loss) {
    const auto expected = train(loss, InProcess{});
    run_ranks(7, [&](Threads group) {
      const auto found = train(loss, group);
      for (std::size_t i = 0; i < found.size(); ++i) CHECK_UNARY(std::abs(found[i] - expected[i]) < 1e-13);
    });
  };
  compare(SoftmaxCrossEntropy{});
  compare(Weighted{SoftmaxCrossEntropy{}, "importance"});
}

TEST_CASE("a mistake on one rank ends all ranks with one sentence") {
  const Tiny task;
  const auto all = [](std::size_t count, const std::string& sentence) {
    return std::vector<std::string>(count, sentence);
  };
  // Runs a loop on each rank with an observer that is called after each step.
  const auto with = [&](std::size_t count, const auto& after_step) {
    return sentences_of_ranks(count, [&](Threads group) {
      auto loop = tiny_loop(momentum(), 0.01, Mean{}, group);
      loop.run(task.train(), UntilStep{9},
               AfterStep{[&](std::uint64_t step) { after_step(loop, group.rank(), step); }});
    });
  };
  CHECK(with(3, [](auto&, std::size_t rank, std::uint64_t step) {
          if (rank == 1 && step == 4) fail("out of ideas");
        }) == all(3, "rank 1 of 3: out of ideas"));
  CHECK(with(2,
             [](auto& loop, std::size_t rank, std::uint64_t step) {
               if (rank == 1 && step == 4) loop.evaluate(Tiny{}.validation(), ErrorRate{});
             }) ==
        all(2,
            "rank 1 of 2 is at step 4, an evaluation, and rank 0 at step 4, the end of a step: all ranks must "
            "make the same calls and read the same checkpoint"));
  // Different parameters are found at the next evaluation.
  CHECK(sentences_of_ranks(3, [&](Threads group) {
          auto loop = tiny_loop(momentum(), 0.01, Mean{}, group);
          loop.run(task.train(), UntilStep{9}, Evaluate{task, {.every = 5}}, AfterStep{[&](std::uint64_t step) {
                     if (group.rank() == 2 && step == 3) loop.values("0.bias")[0] += 1;
                   }});
        }) == all(3, "the tensor '0.bias' differs between rank 2 of 3 and rank 0 after step 5"));
  CHECK(sentences_of_ranks(2, [&](Threads group) {  // an observer that fails at the end
          auto loop = tiny_loop(momentum(), 0.01, Mean{}, group);
          loop.run(task.train(), UntilStep{2}, FailsAtTheEnd{group.rank() == 0});
        }) == all(2, "rank 0 of 2: the last word fails"));
  // A failure is no divergence.
  std::vector<int> failures(2);
  run_ranks(2, [&](Threads group) {
    auto loop = tiny_loop(momentum(), 0.01, Mean{}, group);
    try {
      loop.run(task.train(), UntilStep{2}, FailsAtTheEnd{group.rank() == 0});
    } catch (const RankFailure&) {
      failures[group.rank()] = 1;
    } catch (const Error&) {
    }
  });
  CHECK(failures == std::vector<int>{1, 1});
}

TEST_CASE("a loss that is not finite on one rank diverges all ranks at the same step") {
  auto data = Tiny::digits();
  const auto broken = [&](std::size_t count, const auto& rule) {
    std::vector<Control> reasons(count);
    std::vector<std::uint64_t> steps(count);
    const auto found = sentences_of_ranks(count, [&](Threads group) {
      auto loop = tiny_loop(rule, 0.01, Mean{}, group);
      try {
        loop.run(Tiny{}.train(), UntilStep{9}, AfterStep{[&](std::uint64_t step) {
                   if (group.rank() == 1 && step == 4)
                     loop.values("0.bias")[0] = std::numeric_limits<float>::quiet_NaN();
                 }});
      } catch (const Diverged& diverged) {
        reasons[group.rank()] = diverged.report.reason;
        steps[group.rank()] = diverged.step;
        CHECK_UNARY(diverged.report.last.now.t == 4);
        throw;
      }
    });
    for (const std::string& each : found) CHECK(each == found[0]);
    CHECK(contains(found[0], "rank 1 of 3: training diverged at step 5"));
    CHECK(reasons == std::vector<Control>(count, Control::diverged));
    CHECK(steps == std::vector<std::uint64_t>(count, 5));
  };
  broken(3, momentum());
}

TEST_CASE("a sweep of learning rates ends on all ranks when one diverges") {
  std::vector<std::size_t> points(2);
  run_ranks(2, [&](Threads group) {
    const LearningRateSweep sweep =
        find_learning_rate(Tiny::model(), Tiny::loss(), sgd(), ShuffledEpochs{.batch = 32}, Tiny{}.train(),
                           {.from = 1e10, .to = 1e38, .steps = 40, .stop_at = 1e300}, Mean{}, group);
    CHECK_UNARY(sweep.diverged);
    points[group.rank()] = sweep.points.size();
  });
  CHECK(points[0] == points[1]);
  CHECK(points[0] > 0);
}

TEST_CASE("a step outside of a run diverges on all ranks, too") {
  std::vector<float> pixels(4 * 784, 0.5f);
  pixels[3 * 784] = std::numeric_limits<float>::quiet_NaN();  // of an example of rank 1
  const InMemory<float> data(pixels, {0, 1, 2, 3}, Shape{28, 28, 1}, 10);
  const auto found = sentences_of_ranks(2, [&](Threads group) {
    TrainingLoop loop(Tiny::model(), Tiny::loss(), sgd(), Constant{0.1}, Always(range(0, 4)), Mean{}, group);
    loop.step(data);
  });
  CHECK(contains(found[0], "rank 1 of 2: training diverged at step 1"));
  CHECK(found[0] == found[1]);
}

TEST_CASE("ranks whose selectors choose different examples notice it at the first step") {
  const auto found = sentences_of_ranks(2, [](Threads group) {
    TrainingLoop loop(Tiny::model(), Tiny::loss(), sgd(), Constant{0.1},
                      ShuffledEpochs{.batch = 32, .seed = group.rank()}, Mean{}, group);
    loop.run(Tiny{}.train(), UntilStep{2});
  });
  CHECK(found == std::vector<std::string>(2,
                                          "rank 1 of 2 selects other examples than rank 0 at step 1: all ranks must be "
                                          "given the same selector"));
}

TEST_CASE("a failure that other ranks learn of while they save ends them") {
  const TemporaryFile file;
  const auto found = sentences_of_ranks(3, [&](Threads group) {
    auto loop = tiny_loop(momentum(), 0.01, Adasum<>{}, group);
    loop.run(Tiny{}.train(), UntilStep{9}, AfterStep{[&](std::uint64_t step) {
               if (group.rank() == 1 && step == 4) fail("out of ideas");
             }},
             Checkpoints(file.path(), {.every = 4}));
  });
  CHECK(found == std::vector<std::string>(3, "rank 1 of 3: out of ideas"));
}

TEST_CASE("observers that rank 0 alone calls do not change what the others restore") {
  const TemporaryFile file, log;
  std::vector<std::size_t> evaluations(2);
  for (const std::uint64_t end : {10u, 20u})
    run_ranks(2, [&](Threads group) {
      auto loop = tiny_loop(momentum(), 0.01, Mean{}, group);
      std::vector<EvaluationReport> history, more;
      run_for(loop, end, CsvLog{log.path()}, History{history}, Checkpoints(file.path(), {.announce = false}),
              History{more});
      CHECK_UNARY(history.size() == more.size());
      evaluations[group.rank()] = history.size();
    });
  CHECK(evaluations == std::vector<std::size_t>(2, 4));
}

TEST_CASE("save_checkpoint writes the states of all ranks") {
  const TemporaryFile file;
  const Tiny task;
  std::vector<float> expected;
  run_ranks(2, [&](Threads group) {
    auto loop = tiny_loop(adamw(), 0.01, Adasum<>{}, group);
    loop.run(task.train(), UntilStep{3});
    save_checkpoint(file.path(), loop);
    loop.run(task.train(), UntilStep{6});
    if (group.rank() == 0) expected = values_of(loop);
  });
  auto loop = tiny_loop(adamw(), 0.01, Adasum<>{}, InProcess{.workers = 2});
  load_checkpoint(file.path(), loop);
  loop.run(task.train(), UntilStep{6});
  CHECK(same_bits(values_of(loop), expected));
}

TEST_CASE("ranks that are given different options, data or parameters do not start") {
  const Tiny task;
  const auto refused = [&](const auto& rate, std::uint64_t seed, std::size_t batch, std::size_t workers,
                           std::size_t examples, float bias) {
    return sentences_of_ranks(2, [&](Threads group) {
      const bool other = group.rank() == 1;
      group.workers = other ? workers : 1;
      TrainingLoop loop(Tiny::model(), Tiny::loss(), momentum(), Constant{other ? rate : 0.1},
                        ShuffledEpochs{.batch = other ? batch : 32}, Mean{}, group, Seed{other ? seed : 1});
      loop.values("2.bias")[9] = other ? bias : 0;
      loop.run(task.all.subset(0, other ? examples : 256), UntilStep{2});
    });
  };
  const auto check = [](const std::vector<std::string>& found, const std::string& expected) {
    CHECK(found[0] == expected);
    CHECK(found[1] == expected);
  };
  check(refused(0.1, 1, 32, 1, 256, 0), "");
  check(refused(0.1, 2, 32, 1, 256, 0), "the seed is 2 on rank 1 of 2, and 1 on rank 0");
  check(refused(0.1, 1, 64, 1, 256, 0), "the selector's batch is 64 on rank 1 of 2, and 32 on rank 0");
  check(refused(0.1, 1, 32, 3, 256, 0), "the number of workers is 3 on rank 1 of 2, and 1 on rank 0");
  check(refused(0.1, 1, 32, 1, 255, 0),
        "the number of examples of the data set is 255 on rank 1 of 2, and 256 on rank 0");
  check(refused(0.1, 1, 32, 1, 256, 1), "the tensor '2.bias' differs between rank 1 of 2 and rank 0 after step 0");
  const std::string options = "the hash of the options of the rule, the schedule and the combiner is ";
  CHECK(contains(refused(0.2, 1, 32, 1, 256, 0)[0], options));
  const auto combiners = sentences_of_ranks(2, [&](Threads group) {
    const VectorFormat format = group.rank() == 0 ? VectorFormat::full : VectorFormat::bfloat16;
    TrainingLoop loop(Tiny::model(), Tiny::loss(), momentum(), Constant{0.1}, ShuffledEpochs{.batch = 32},
                      Adasum<>{.format = format}, group);
    loop.run(task.train(), UntilStep{2});
  });
  CHECK(contains(combiners[0], options));
  CHECK(combiners[0] == combiners[1]);
  const auto layouts = sentences_of_ranks(2, [&](Threads group) {
    TrainingLoop loop(mlp(Shape{28, 28, 1}, {group.rank() == 0 ? 12u : 13u}, 10), Tiny::loss(), sgd(), Constant{0.1},
                      ShuffledEpochs{.batch = 32}, Mean{}, group);
    loop.run(task.train(), UntilStep{2});
  });
  CHECK(contains(layouts[0], "the hash of the layout of the parameters is "));
  CHECK(layouts[0] == layouts[1]);

  const auto small = sentences_of_ranks(2, [&](Threads group) {  // fails before the ranks meet
    TrainingLoop loop(Tiny::model(), Tiny::loss(), sgd(), Constant{0.1},
                      ShuffledEpochs{.batch = 32, .last = LastBatch::drop}, Mean{}, group);
    loop.run(task.all.subset(0, group.rank() == 1 ? 20 : 256), UntilStep{2});
  });
  CHECK(contains(small[0], "rank 1 of 2: ShuffledEpochs: "));
  CHECK(small[0] == small[1]);

  CHECK(contains(sentences_of_ranks(3, [](Threads group) { (void)tiny_loop(sgd(), 0.1, group); })[2],
                 "3 workers need a combiner, Mean{} or Adasum<>{}"));
  CHECK(sentences_of_ranks(33, [](Threads group) { (void)tiny_loop(sgd(), 0.1, Mean{}, group); })[32] ==
        "TrainingLoop: the batch is 32 examples for 33 workers, expected at least one each");
}

TEST_CASE("all ranks stop when one wants to, for the reason of the lowest") {
  const Tiny task;
  std::vector<RunReport> reports(3);
  run_ranks(3, [&](Threads group) {
    auto loop = tiny_loop(momentum(), 0.01, Mean{}, group);
    reports[group.rank()] = loop.run(task.train(), UntilStep{100}, [&](const StepReport& report) {
      if (report.now.t != 7 || group.rank() == 0) return Control::go_on;
      return group.rank() == 1 ? Control::interrupted : Control::target_reached;
    });
  });
  for (const RunReport& report : reports) {
    CHECK(report.reason == Control::interrupted);
    CHECK(report.last.now.t == 7);
  }
}

TEST_CASE("rank 0 alone writes files") {
  const TemporaryFile log, steps, best;
  std::vector<std::size_t> evaluations(3);
  run_ranks(3, [&](Threads group) {
    auto loop = tiny_loop(momentum(), 0.01, Mean{}, group);
    std::vector<EvaluationReport> history;
    run_for(loop, 10, CsvLog{log.path()}, StepLog{steps.path()}, BestCheckpoint{best.path()}, History{history});
    evaluations[group.rank()] = history.size();
  });
  CHECK(evaluations == std::vector<std::size_t>(3, 2));
  CHECK(contains(log.read(), "\n10,"));
  CHECK(contains(steps.read(), "\n10,"));
  CHECK(best.exists());
}

TEST_CASE("a run continues from a checkpoint on other numbers of ranks") {
  // Trains to `end` with a checkpoint at the end, from a checkpoint if there is one.
  const auto train = [](const auto& combiner, const auto& group, const std::string& path, std::uint64_t end) {
    auto loop = tiny_loop(adamw(), 0.01, combiner, group);
    return run_for(loop, end, Checkpoints(path, {.announce = false}));
  };
  const auto check = [&](const auto& combiner) {
    const TemporaryFile whole, file;
    const auto expected = train(combiner, InProcess{.workers = 4}, whole.path(), 12).values;
    on_ranks(4, [&](Threads group) { return train(combiner, group, file.path(), 4); });
    on_ranks(
        2, [&](Threads group) { return train(combiner, group, file.path(), 8); }, 2);
    CHECK(file.exists());
    const auto resumed = train(combiner, InProcess{.workers = 4}, file.path(), 12);
    CHECK(resumed.report.resumed_at == 8);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK_UNARY(std::fabs(resumed.values[i] - expected[i]) < 1e-5f);
  };
  check(Mean{});
  check(Adasum<Of::gradients>{});
  check(Adasum<Of::updates>{});
  check(WorkerSum<Of::updates>{});
  check(LocalSteps{.every = 3});  // between two outer steps, workers have parameters of their own

  // Rules of workers cannot be shared out to another number of workers.
  const TemporaryFile file;
  on_ranks(4, [&](Threads group) { return train(Adasum<>{}, group, file.path(), 4); });
  const auto found = sentences_of_ranks(3, [&](Threads group) { train(Adasum<>{}, group, file.path(), 8); });
  for (const std::string& each : found) CHECK(each == found[0]);
  CHECK(contains(found[0], "rank 0 of 3: " + file.path()));
  // Mean has one rule, which any number of ranks can continue.
  const TemporaryFile other;
  on_ranks(4, [&](Threads group) { return train(Mean{}, group, other.path(), 4); });
  for (const RankResult& rank : on_ranks(3, [&](Threads group) { return train(Mean{}, group, other.path(), 8); }))
    CHECK(rank.report.resumed_at == 4);
}

TEST_CASE("the log of orthogonality: 1 / W for equal workers, and the same on ranks as in one process") {
  const Tiny task;
  const auto logged = [&](const auto& combiner, const auto& group, const auto& selector, std::uint64_t every) {
    static const TemporaryFile file;
    TrainingLoop loop(Tiny::model(), Tiny::loss(), sgd(), Constant{0.1}, selector, combiner, group);
    loop.run(task.train(), UntilStep{4}, OrthogonalityLog(file.path(), every));
    CHECK_UNARY(loop.orthogonality().empty());
    return loop.ranks().is_root() ? file.read() : std::string();
  };
  // Each of the four workers has the same example.
  const Always same(std::vector<std::uint32_t>(4, 3u));
  CHECK(logged(Adasum<Of::gradients>{}, InProcess{.workers = 4}, same, 3) ==
        "step,tensor,orthogonality\n3,0.weight,0.25\n3,0.bias,0.25\n3,2.weight,0.25\n3,2.bias,0.25\n");
  const ShuffledEpochs different{.batch = 32};
  const auto check = [&](const auto& combiner) {
    const std::string expected = logged(combiner, InProcess{.workers = 3}, different, 2);
    CHECK(contains(expected, "\n2,0.weight,0."));
    CHECK(contains(expected, "\n4,2.bias,0."));
    std::string found;
    run_ranks(3, [&](Threads group) {
      const std::string text = logged(combiner, group, different, 2);
      if (group.rank() == 0) found = text;
    });
    CHECK(found == expected);
  };
  check(Adasum<Of::gradients>{});
  check(Adasum<Of::updates>{});
  CHECK(sentence([&] { (void)logged(Adasum<Of::updates>{}, InProcess{}, different, 2); }) ==
        "TrainingLoop: orthogonality needs at least 2 workers, but there is 1");
  auto nodes = tiny_loop(sgd(), 0.01, Adasum<Of::gradients>{.per_node = 2}, InProcess{4});
  CHECK(sentence([&] { nodes.measure_orthogonality(2); }) ==
        "Adasum: orthogonality is measured without nodes, and per_node is 2");
  CHECK(sentence([] { (void)OrthogonalityLog("f", 0); }) == "OrthogonalityLog: every is 0, expected at least 1");
}
