#include <algoperf/algoperf.hpp>
#include <algorithm>
#include <cstdio>
#include <vector>

namespace ap = algoperf;

// A layer, an op, a block, a loss, a metric, a data set of fields and a transform of a user's own.

struct SquaredReluForward {
  template <class T>
  ALGOPERF_HD T operator()(T, T x) const {
    return ap::math::select<T>(x < T(0), T(0), x * x);
  }
};
struct SquaredReluBackward {
  template <class T>
  ALGOPERF_HD T operator()(T, T x, T dy) const {
    return ap::math::select<T>(x < T(0), T(0), T(2) * x * dy);
  }
};
struct SquaredRelu : ap::Activation<SquaredReluForward, SquaredReluBackward, 2, 3> {};

struct Negative {
  static constexpr const char* name = "negative";
  template <class Net>
  constexpr ap::Value output(const Net&, ap::OpName, const std::array<ap::Value, 1>& x) const {
    return x[0];
  }
  struct Minus {
    template <class T>
    ALGOPERF_HD T operator()(T, T x) const {
      return -x;
    }
  };
  template <class Call>
  void forward(const Call& call) const {
    call.pass.backend.map(Minus{}, call.rows(0) * call.in_shape(0).size(), call.out(), call.in(0));
  }
  template <class Call>
  void backward(const Call& call) const {
    if (call.d_in(0) != nullptr)
      call.pass.backend.map(Minus{}, call.rows(0) * call.in_shape(0).size(), call.d_in(0), call.d_out());
  }
};

struct Network {
  template <class Net>
  constexpr ap::Value operator()(Net& net) const {
    const ap::Value x = net("hidden", ap::Dense{.units = 16}, net.field("point", {2}));
    return net("out", ap::Dense{.units = 1}, net(ap::Concat{}, net(SquaredRelu{}, x), net(Negative{}, x)));
  }
};

struct AbsoluteError {  // of one output
  template <class S>
  using Label = S;
  constexpr void count(std::uint64_t batch, std::uint64_t outputs, auto& tally) const {
    tally.operation({"loss", 4 * batch * outputs, 2 * batch * outputs, 2 * batch * outputs});
  }
  template <class S>
  struct Row {
    const S* z;
    const S* y;
    const S* weights;
    S* losses;
    S* d_z;
    S scale;
    template <class Team>
    ALGOPERF_HD void operator()(const Team&, std::size_t r) const {
      losses[r] = ap::math::abs(z[r] - y[r]);
      if (d_z != nullptr) d_z[r] = weights[r] * scale * ap::math::sign(z[r] - y[r]);
    }
  };
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t, const S* z, const S* y, const S* weights, S* losses,
             S* d_z) const {
    backend.for_each_row(batch, 4, Row<S>{z, y, weights, losses, d_z, S(1) / static_cast<S>(batch)});
  }
};

struct LargestError {
  static constexpr const char* name = "largest error";
  static constexpr bool lower_is_better = true;
  struct State {
    double largest = 0;
  };
  template <class S>
  void add(State& state, const ap::EvaluatedRows<S, S>& rows) const {
    for (std::size_t i = 0; i < rows.rows; ++i)
      state.largest = std::max(state.largest, std::abs(static_cast<double>(rows.outputs[i] - rows.labels[i])));
  }
  double value(const State& state) const { return state.largest; }
};

struct Points {  // of a saddle
  using Fields = ap::FieldList<ap::Field<"point", float>, ap::Field<"label", float>>;
  std::size_t size() const { return 400; }
  ap::Shape shape(std::string_view field) const { return field == "point" ? ap::Shape{2} : ap::Shape{1}; }
  template <class To>
  void gather(const std::uint32_t* indices, std::size_t n, const To& to) const {
    auto* const point = to.template at<"point">();
    auto* const label = to.template at<"label">();
    for (std::size_t i = 0; i < n; ++i) {
      const float x = static_cast<float>(indices[i] % 20) / 10 - 1, y = static_cast<float>(indices[i] / 20) / 10 - 1;
      point[2 * i] = x;
      point[2 * i + 1] = y;
      label[i] = x * x - y * y;
    }
  }
};

struct Mirror {  // the saddle is even in both coordinates
  template <class Batch>
  void operator()(const Batch& batch, ap::RandomKey key) const {
    auto* const point = batch.reals("point");
    for (std::size_t i = 0; i < 2 * batch.size(); ++i)
      if (ap::RandomStream(key.fold(i)).below(2) == 1) point[i] = -point[i];
  }
};

// Returns 0 if they train.
int main() {
  const double layer_error = ap::gradient_check(Network{}, AbsoluteError{}).error;
  ap::TrainingLoop loop(Network{}, AbsoluteError{}, ap::adamw(), ap::Constant{0.01}, ap::ShuffledEpochs{.batch = 50});
  const double before = loop.evaluate(Points{}, LargestError{}).metric;
  loop.run(ap::prefetched(ap::transformed(Points{}, Mirror{})), ap::UntilStep{400});
  const double after = loop.evaluate(Points{}, LargestError{}).metric;
  std::printf("gradient error %.1e, largest error %.3f, then %.3f\n", layer_error, before, after);
  return layer_error < 1e-6 && after < before / 3 ? 0 : 1;
}
