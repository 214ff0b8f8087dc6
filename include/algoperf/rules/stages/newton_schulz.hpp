// Coefficients (a, b, c) for each step of the Newton-Schulz iteration X' = a X + (b A + c A A) X, A = X X^T.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../../core/config.hpp"

namespace algoperf {

struct NewtonSchulzStep {
  double a = 1.5, b = -0.5, c = 0;
};

// A list of steps. Iterations beyond its end repeat the last step. The object stores a pointer to the table, which
// must outlive it:
//   constexpr NewtonSchulzStep classical[] = {{1.5, -0.5, 0}};
//   muon({.steps = 12, .coefficients = classical})
class NewtonSchulzSteps {
 public:
  template <std::size_t N>
  constexpr NewtonSchulzSteps(const NewtonSchulzStep (&table)[N]) : table_(table), count_(N) {}
  template <std::size_t N>
  NewtonSchulzSteps(NewtonSchulzStep (&&table)[N]) = delete;  // a temporary table would not live long enough

  constexpr const NewtonSchulzStep& operator[](std::size_t step) const {
    return table_[step < count_ ? step : count_ - 1];
  }
  constexpr std::size_t size() const { return count_; }
  template <class F>
  void visit_options(F& f) const {
    for (std::size_t i = 0; i < count_; ++i) f(table_[i].a), f(table_[i].b), f(table_[i].c);
  }

 private:
  const NewtonSchulzStep* table_;
  std::size_t count_;
};
static_assert(std::is_trivially_copyable_v<NewtonSchulzSteps>);

// Published lists, with the values used by NVIDIA's Emerging-Optimizers.
namespace newton_schulz {

inline constexpr NewtonSchulzStep simple_table[] = {{3.4445, -4.7750, 2.0315}};
inline constexpr NewtonSchulzStep quintic_table[] = {{4.0848, -6.8946, 2.9270},
                                                     {3.9505, -6.3029, 2.6377},
                                                     {3.7418, -5.5913, 2.3037},
                                                     {2.8769, -3.1427, 1.2046},
                                                     {2.8366, -3.0525, 1.2012}};
inline constexpr NewtonSchulzStep polar_express_table[] = {
    {8.2051, -22.9019, 16.4607}, {4.0664, -2.8612, 0.5184}, {3.9096, -2.8234, 0.5250}, {3.2856, -2.4153, 0.4853},
    {2.2779, -1.6198, 0.3985},   {1.8726, -1.2307, 0.3585}, {1.8564, -1.2132, 0.3568}, {1.875, -1.25, 0.375}};
inline constexpr NewtonSchulzStep cans_table[] = {{8.4703, -25.1081, 18.6293},
                                                  {4.1828, -3.1087, 0.5806},
                                                  {3.9619, -2.9541, 0.5630},
                                                  {3.2866, -2.4647, 0.5074},
                                                  {2.2737, -1.6447, 0.4162}};

inline constexpr NewtonSchulzSteps simple = simple_table;    // Jordan et al. 2024: singular values end within 0.3 of 1
inline constexpr NewtonSchulzSteps quintic = quintic_table;  // five steps, each tuned separately
inline constexpr NewtonSchulzSteps polar_express =
    polar_express_table;                               // Amsel et al. 2025, arXiv:2505.16932; converges to 1
inline constexpr NewtonSchulzSteps cans = cans_table;  // Grishina et al. 2025, arXiv:2506.10935

}  // namespace newton_schulz
}  // namespace algoperf
