// Compares TrainingLoop::step with a handwritten training step of the same MLP 784-256-256-10 with AdamW, on the same
// GEMM.
//
//   bench_training_step                                        the ratios of times, and the allocations of a step
//   bench_training_step --count lib|hand --batch N --steps K   runs one side, for callgrind
//   --toggle-collect=count_steps
#include "count_mallocs.hpp"

#include <algoperf/algoperf.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "baselines/handwritten_mlp.hpp"
#include "mlp_task.hpp"
#include "paired.hpp"

namespace ap = algoperf;

namespace {

static_assert(bench::inputs == handwritten::Mlp::inputs && bench::hidden == handwritten::Mlp::hidden &&
              bench::classes == handwritten::Mlp::classes);

handwritten::Mlp::Places places_in(const ap::Layout& layout) {
  const auto at = [&](const char* name) { return layout.place_of(layout.find(name)).offset; };
  return {at("0.weight"), at("0.bias"), at("2.weight"), at("2.bias"), at("4.weight"), at("4.bias"), layout.size()};
}

// The library's loop and the handwritten step, with the same examples in the same order and the same initial
// parameters.
class Sides {
 public:
  Sides(std::size_t examples, std::size_t batch)
      : data_(bench::random_examples(examples)),
        selector_{.batch = batch},
        selected_(selector_.state(examples)),
        loop_(bench::training_loop(batch)),
        hand_(places_in(loop_.layout()), loop_.values(), batch) {
    loop_.start(data_);
  }

  double library() { return *loop_.step(data_).loss; }
  double by_hand() {
    selector_.select(selected_, {}, selection_);
    return hand_.step({}, data_.inputs().data(), data_.labels().data(), selection_.indices.data(),
                      selection_.indices.size());
  }

  // Returns the largest absolute difference between the parameters of the two sides.
  double difference() {
    double most = 0;
    for (std::size_t i = 0; i < loop_.layout().size(); ++i)
      most =
          std::max(most, std::abs(static_cast<double>(loop_.values()[i]) - static_cast<double>(hand_.parameters()[i])));
    return most;
  }

 private:
  ap::InMemory<float> data_;
  ap::ShuffledEpochs selector_;
  ap::ShuffledEpochs::State selected_;
  ap::Selection selection_;
  decltype(bench::training_loop(1)) loop_;
  handwritten::Mlp hand_;
};

// Exits with 2 if the parameters differ after ten steps. The tolerance allows for rounding, because Adam takes steps
// of up to 1e-3 for gradients of any size.
void must_agree(Sides& sides) {
  double loss = 0;
  for (int i = 0; i < 10; ++i) loss = sides.library() - sides.by_hand();
  if (sides.difference() < 1e-4 && std::abs(loss) < 1e-5) return;
  std::fprintf(stderr, "after 10 steps the parameters differ by up to %g and the losses by %g\n", sides.difference(),
               loss);
  std::exit(2);
}

// Computes only the matrix products of one step.
void products(std::size_t batch, float* arena) {
  const ap::Host<> host;
  const std::size_t widths[] = {bench::inputs, bench::hidden, bench::hidden, bench::classes};
  for (int i = 0; i < 3; ++i) {
    const std::size_t in = widths[i], out = widths[i + 1];
    float *const a = arena, *const b = a + 256 * 784, *const c = b + 256 * 784;
    host.gemm_nt(batch, out, in, a, b, c);
    host.gemm_tn(out, in, batch, a, b, c);
    if (i > 0) host.gemm_nn(batch, in, out, a, b, c);
  }
}

void measure(bench::Report& report, std::size_t batch) {
  Sides sides(8192, batch);
  must_agree(sides);
  const std::string what = "training step, batch " + std::to_string(batch);
  const bench::Quartiles ratio =
      bench::paired([&] { sides.library(); }, [&] { sides.by_hand(); }, {.pairs = 41, .sample_seconds = 0.03});
  report.at_most(what + ", vs handwritten", bench::Statistic::median, 1.03, ratio);

  const std::size_t before = bench::mallocs();
  sides.library();
  const std::size_t in_step = bench::mallocs() - before;
  ap::Arena<float> arena(3 * 256 * 784);
  const std::size_t between = bench::mallocs();
  products(batch, arena.data());
  const std::size_t in_products = bench::mallocs() - between;
  report.equals(what + ", mallocs outside the GEMM", 0,
                static_cast<double>(in_step) - static_cast<double>(in_products));
  report.note(what + ", mallocs of the GEMM's packing", std::to_string(in_products));
}

}  // namespace

// The function in which callgrind counts instructions.
extern "C" __attribute__((noinline)) void count_steps(Sides& sides, bool library, std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) library ? sides.library() : sides.by_hand();
}

int main(int count, char** words) {
  // The moments of dead units decay to denormal numbers, which cost a hundred cycles each. Both sides flush them to
  // zero, so that the ratio does not depend on their number.
  _mm_setcsr(_mm_getcsr() | _MM_FLUSH_ZERO_ON | 0x40);
  std::string side;
  std::size_t batch = 128, steps = 10;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::strcmp(words[i], "--count") == 0) side = words[i + 1];
    if (std::strcmp(words[i], "--batch") == 0) batch = std::stoul(words[i + 1]);
    if (std::strcmp(words[i], "--steps") == 0) steps = std::stoul(words[i + 1]);
  }
  if (!side.empty()) {
    Sides sides(1024, batch);
    count_steps(sides, side == "lib", 1);
    count_steps(sides, side == "lib", steps);
    return 0;
  }
  bench::Report report;
  measure(report, 32);
  measure(report, 128);
  return report.status();
}
