// Checks that a training step allocates no memory. Calls of malloc and related functions are counted; those within a
// matrix product (Eigen's packing buffers) are counted separately.
#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "../support/sanitizers.hpp"
#include "tagger.hpp"
#include "tiny.hpp"

#if defined(__GLIBC__) && !ANY_SANITIZER
#define COUNTED 1
#else
#define COUNTED 0
#endif

namespace {

std::atomic<bool> counting{false}, in_product{false};
std::atomic<int> own_allocations{0}, packing{0};
std::atomic<std::size_t> allocated_bytes{0};

[[maybe_unused]] void count(std::size_t size) {
  if (!counting) return;
  ++(in_product ? packing : own_allocations);
  allocated_bytes += size;
}

}  // namespace

#if COUNTED
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  count(size);
  return __libc_malloc(size);
}
void* calloc(std::size_t n, std::size_t size) {
  count(n * size);
  return __libc_calloc(n, size);
}
void* realloc(void* block, std::size_t size) {
  count(size);
  return __libc_realloc(block, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  count(size);
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count(size);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  count(size);
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}
}
#endif

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// A host backend that sets in_product during matrix products. The caller waits for a product's threads.
struct WatchedHost : Host<float> {
  template <class... Args>
  void gemm_nn(Args... args) const {
    in_product = true;
    Host<float>::gemm_nn(args...);
    in_product = false;
  }
  template <class... Args>
  void gemm_nt(Args... args) const {
    in_product = true;
    Host<float>::gemm_nt(args...);
    in_product = false;
  }
  template <class... Args>
  void gemm_nt_bias(Args... args) const {
    in_product = true;
    Host<float>::gemm_nt_bias(args...);
    in_product = false;
  }
  template <class... Args>
  void gemm_tn(Args... args) const {
    in_product = true;
    Host<float>::gemm_tn(args...);
    in_product = false;
  }
  struct WatchedAttention {
    decltype(std::declval<Host<float>>().attention({})) inner;
    template <class... Args>
    void forward(const Args&... args) const {
      in_product = true;
      inner.forward(args...);
      in_product = false;
    }
    template <class... Args>
    void backward(const Args&... args) const {
      in_product = true;
      inner.backward(args...);
      in_product = false;
    }
  };
  WatchedAttention attention(const AttentionShape& shape) const { return {Host<float>::attention(shape)}; }
  template <class F>
  void run_concurrently(std::size_t, std::size_t count, const F& f) const {
    for (std::size_t i = 0; i < count; ++i) f(*this, std::size_t{0}, i);
  }
};

// Returns the number of allocations outside matrix products in steps 3 to 14, over several epochs with a small last
// batch.
template <class Data, class Model, class Loss, class Rule, class... Tail>
int allocations_on(const Data& data, const Model& model, const Loss& loss, const Rule& rule, const Tail&... tail) {
  for (const unsigned threads : {1u, 2u}) {
    WatchedHost host;
    host.threads = threads;
    TrainingLoop loop(model, loss, rule, Constant{1e-3}, tail..., host);
    own_allocations = 0;
    for (int i = 0; i < 14; ++i) {
      counting = i >= 2;
      loop.step(data);
    }
    counting = false;
    if (own_allocations > 0) break;
  }
  return own_allocations;
}
template <class Model, class Rule, class... Tail>
int allocations(const Model& model, const Rule& rule, const Tail&... tail) {
  return allocations_on(Tiny{}.all.subset(0, 40), model, Tiny::loss(), rule, tail...);
}

}  // namespace

TEST_CASE("allocations are counted") {
  if (!COUNTED) return;
  own_allocations = 0;
  counting = true;
  std::vector<int> vector(10);
  Arena<float> arena(10);
  counting = false;
  volatile int used = vector[3] + static_cast<int>(arena[3]);  // otherwise a compiler may remove the allocations
  CHECK(used == 0);
  CHECK(own_allocations == 2);
}

TEST_CASE("a step allocates no memory outside matrix products") {
  const auto tiny = Tiny::model();
  const auto wide = mlp(Shape{28, 28, 1}, {96}, 10);
  const auto cnn = simple_cnn(Shape{28, 28, 1}, 10, {.filters1 = 4, .filters2 = 8, .units = 32});
  const auto clipped = chain(ClipByGlobalNorm{.max_norm = 1}, Adam{}, TrustRatio{}, Descend{}, WeightAverage{});
  const auto both = partition(matrices, muon(), otherwise, adamw());
  const ShuffledEpochs epochs{.batch = 16};
  CHECK(allocations(tiny, adamw(), epochs) == 0);
  CHECK(allocations(wide, lamb(), epochs) == 0);
  CHECK(allocations(wide, clipped, epochs) == 0);
  CHECK(allocations(wide, both, epochs) == 0);
  CHECK(allocations(cnn, both, epochs) == 0);
  CHECK(allocations(cnn, adamw(), WithReplacement{.batch = 16}) == 0);
  CHECK(allocations(tiny, sam(momentum()), LossProportional{.batch = 16}) == 0);
  CHECK(allocations(tiny, sam(momentum()), epochs, Mean{}, InProcess{3}) == 0);
  CHECK(allocations(tiny, adamw(), epochs, Adasum<Of::gradients>{}, InProcess{3}) == 0);
  CHECK(allocations(tiny, sam(both), epochs, Adasum<Of::updates>{}, InProcess{3}) == 0);
  CHECK(allocations_on(tagging::sentences().subset(1, 39), tagging::Tagger{}, Weighted{SoftmaxCrossEntropy{}}, adamw(),
                       epochs, Mean{}, InProcess{3}) == 0);
  const TextSequences text(Text::from_string("how vexingly quick daft zebras jump over the lazy dog"), {.length = 8});
  const Gpt gpt{.vocabulary = text.text().classes(), .context = 8, .width = 8, .layers = 1, .heads = 2, .dropout = 0.1};
  CHECK(allocations_on(text, gpt, SoftmaxCrossEntropy{}, adamw(), ShuffledEpochs{.batch = 4}) == 0);
  MESSAGE("packing within matrix products: " << packing.load() << " allocations in all");
}

TEST_CASE("a batch processed in consecutive parts uses activation memory for one part only") {
  if (!COUNTED) return;
  const Tiny task;
  const auto taken = [&](const auto&... tail) {
    allocated_bytes = 0;
    counting = true;
    TrainingLoop loop(Model(Shape{28, 28, 1}, Conv2d{.filters = 8}, Relu{}, Dense{.units = 10}), task.loss(), sgd(),
                      Constant{1e-3}, ShuffledEpochs{.batch = 64}, tail...);
    counting = false;
    loop.step(task.train());
    return static_cast<double>(allocated_bytes);
  };
  const double whole = taken(), parts = taken(Mean{}, InProcess{8});
  CHECK(parts < 0.4 * whole);  // inputs, gradients and Mean's accumulator do not shrink
}
