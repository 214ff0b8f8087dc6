// Tanh, Silu, Gelu and GeluTanh. Golden rows: torch 2 in double (torch.tanh, silu, gelu, gelu with approximate="tanh").
#include "algoperf/nn/layers/dense.hpp"
#include "algoperf/nn/layers/gelu.hpp"
#include "algoperf/nn/layers/silu.hpp"
#include "algoperf/nn/layers/tanh.hpp"
#include "runner.hpp"

using namespace nn_test;

namespace {

static_assert(ap::Layer<ap::Tanh> && ap::Layer<ap::Silu> && ap::Layer<ap::Gelu> && ap::Layer<ap::GeluTanh>);

const Numbers points{-6, -2.5, -0.7, -0.1, 0, 0.01, 0.3, 1.2, 4, 9};

// Of the largest number: what a float may be off, or a double that torch rounds otherwise.
template <class B>
constexpr double close = std::is_same_v<typename B::Scalar, double> ? 1e-14 : 5e-7;

template <class B, class Layer>
void agrees(const Layer& layer, const Numbers& y, const Numbers& slopes) {
  const ap::Model model(ap::Shape{points.size()}, layer);
  const Outcome found = run<B>(model, {1, 1, {}, points, Numbers(points.size(), 1)});
  for (std::size_t i = 0; i < points.size(); ++i) {
    CAPTURE(points[i]);
    CHECK(std::abs(found.outputs[i] - y[i]) <= close<B> * (0.01 + std::abs(y[i])));
    CHECK(std::abs(found.d_input[i] - slopes[i]) <= close<B> * (1 + std::abs(slopes[i])));
  }
}

TEST_CASE_TEMPLATE("activations: torch's numbers", B, NN_BACKENDS) {
  agrees<B>(
      ap::Tanh{},
      {-0.99998771165079559, -0.98661429815143031, -0.6043677771171635, -0.099667994624955819, 0, 0.0099996666799994603,
       0.2913126124515909, 0.83365460701215521, 0.99932929973906703, 0.999999969540041},
      {2.4576547405302974e-05, 0.02659222668316057, 0.63473958998245861, 0.9900662908474398, 1, 0.99990000666628887,
       0.91513696182662918, 0.30501999620740905, 0.0013409506830259165, 6.0919917071249165e-08});
  agrees<B>(ap::Silu{},
            {-0.014835738939808647, -0.18964545005310887, -0.2322685594822837, -0.047502081252106004, 0,
             0.0050249997916687501, 0.17233275504349771, 0.92222974019882109, 3.9280551601516338, 8.998889448816124},
            {-0.012326432591525513, -0.099401111341526835, 0.17661321652665754, 0.4500832085017708, 0.5,
             0.50499991666791666, 0.64778001031888288, 0.98199811227518441, 1.0526646148910728, 1.0009870195718982});
  agrees<B>(ap::Gelu{},
            {-5.9195258694799691e-09, -0.015524163314440398, -0.16937455655615111, -0.046017216272297101, 0,
             0.0050398935631463162, 0.1853734266566858, 1.0619163957339501, 3.9998733150326675, 9},
            {-3.546870945402639e-08, -0.037611085908145193, 0.023385898866340155, 0.42047690797526982, 0.5,
             0.50797857965249238, 0.73232776682710987, 1.1179535957581472, 1.0005036496612265, 1});
  agrees<B>(ap::GeluTanh{},
            {-8.43964897967453e-11, -0.015084266089998577, -0.16942986529488321, -0.046017248954564841, 0,
             0.0050398935598555726, 0.18537092354275922, 1.0617027691378649, 3.9999297540518075, 9},
            {-7.7099760128363292e-10, -0.037951576212666177, 0.023642781343896052, 0.42047821072824332, 0.5,
             0.50797857833624072, 0.73229545163880183, 1.1177261347331127, 1.000335123197122, 1});
}

// At every number of a fine row, against the C library.
TEST_CASE_TEMPLATE("activations: tanh and Gelu lose no digits anywhere", B, NN_BACKENDS) {
  Numbers x;
  for (double at = -30; at < 30; at += 0.013) x.push_back(at);
  for (double small = 1e-12; small < 0.3; small *= 1.7) x.push_back(small);
  for (double& at : x) at = static_cast<double>(static_cast<float>(at));
  const auto through = [&](const auto& layer) {
    return run<B>(ap::Model(ap::Shape{x.size()}, layer), {1, 1, {}, x, {}}).outputs;
  };
  const Numbers tanh = through(ap::Tanh{}), gelu = through(ap::Gelu{});
  const double relative = std::is_same_v<typename B::Scalar, double> ? 3e-14 : 4e-7;
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(x[i]);
    CHECK(std::abs(tanh[i] - std::tanh(x[i])) <= relative * std::abs(std::tanh(x[i])));
    // Where exp(-x^2 / 2) rounds, so does Gelu: x^2 / 2 ulps of it.
    const double exact = 0.5 * x[i] * std::erfc(-x[i] / std::sqrt(2.0)), bell = x[i] < 0 ? 1 + x[i] * x[i] / 4 : 1;
    const double least = std::is_same_v<typename B::Scalar, double> ? 1e-290 : 1e-35;
    CHECK(std::abs(gelu[i] - exact) <= bell * relative * std::abs(exact) + least);
  }
}

TEST_CASE_TEMPLATE("activations: infinities and NaN", B, NN_BACKENDS) {
  const Numbers x{-INFINITY, INFINITY, NAN};
  const auto through = [&](const auto& layer) {
    return run<B>(ap::Model(ap::Shape{3}, layer), {1, 1, {}, x, {}}).outputs;
  };
  const Numbers tanh = through(ap::Tanh{});
  CHECK(tanh[0] == -1);
  CHECK(tanh[1] == 1);
  CHECK(std::isnan(tanh[2]));
  CHECK(through(ap::Gelu{})[1] == INFINITY);
  CHECK(std::isnan(through(ap::Gelu{})[2]));
  CHECK(std::isnan(through(ap::Silu{})[2]));
}

TEST_CASE_TEMPLATE("activations: gradients", B, NN_BACKENDS) {
  const auto check = [](const auto& layer) {
    check_model<B>(ap::Model(ap::Shape{5, 7}, layer), {.batch = 3, .capacity = 4});
    check_model<B>(ap::Model(ap::Shape{6}, ap::Dense{.units = 19}, layer, ap::Dense{.units = 4}, layer));
  };
  check(ap::Tanh{});
  check(ap::Silu{});
  check(ap::Gelu{});
  check(ap::GeluTanh{});
}

}  // namespace
