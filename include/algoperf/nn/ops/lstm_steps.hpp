// The elementwise work of one time step of an LSTM: functors of a backend's for_each_row over examples.
#pragma once

#include <cstddef>

#include "../../core/example_rows.hpp"
#include "../../core/half.hpp"
#include "../../core/map_kernels.hpp"
#include "../../core/math.hpp"

namespace algoperf::detail {

// The order of the gates, as in torch: input, forget, cell, output.
enum LstmGate : std::size_t { lstm_input, lstm_forget, lstm_cell, lstm_output, lstm_gates };

struct SigmoidOf {
  template <class T>
  ALGOPERF_HD T operator()(T x) const {
    return math::sigmoid(x);
  }
};
struct TanhOf {
  template <class T>
  ALGOPERF_HD T operator()(T x) const {
    return math::tanh(x);
  }
};
// c = f c' + i g
struct NextCell {
  template <class T>
  ALGOPERF_HD T operator()(T, T i, T g, T f, T before) const {
    return f * before + i * g;
  }
};
struct HiddenOf {
  template <class T>
  ALGOPERF_HD T operator()(T, T o, T c) const {
    return o * math::tanh(c);
  }
};
// dc + dh o (1 - tanh(c)^2)
struct CellGradient {
  template <class T>
  ALGOPERF_HD T operator()(T dc, T dh, T o, T c) const {
    const T t = math::tanh(c);
    return dc + dh * o * (T(1) - t * t);
  }
};
// The gradients of the pre-activations of the gates.
struct OutputGateGradient {
  template <class T>
  ALGOPERF_HD T operator()(T o, T dh, T c) const {
    return dh * math::tanh(c) * o * (T(1) - o);
  }
};
struct CellGateGradient {
  template <class T>
  ALGOPERF_HD T operator()(T g, T dc, T i) const {
    return dc * i * (T(1) - g * g);
  }
};
struct SigmoidGateGradient {  // of the input gate, with x = g, and of the forget gate, with x = c'
  template <class T>
  ALGOPERF_HD T operator()(T, T dc, T x, T gate) const {
    return dc * x * gate * (T(1) - gate);
  }
};
// What both directions share. Example e of the block is example first + e of the pass. Its row at time step `step` is
// counted from its last row if `reverse`.
struct LstmTime {
  std::size_t units, step, first;
  bool reverse;
  ExampleRows rows;

  ALGOPERF_HD bool ended(std::size_t e) const { return step >= rows.count(first + e); }
  ALGOPERF_HD std::size_t row(std::size_t e) const {
    const std::size_t begin = rows.begin(first + e);
    return reverse ? rows.end(first + e) - 1 - step : begin + step;
  }
  ALGOPERF_HD std::size_t row_before(std::size_t e) const { return reverse ? row(e) + 1 : row(e) - 1; }
};

template <class S>
struct LstmForward {
  static constexpr bool elementwise = true;
  using T = Arithmetic<S>;
  LstmTime at;
  const S* inputs;    // the inputs' part of the pre-activations, per row
  const T* products;  // the states' part, per example; null at step 0
  S* gates;           // per row
  S* before;          // h of the step before, per row
  T* cells;           // per row
  S* states;          // h, per example
  S* out;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    if (at.ended(e)) return;
    const std::size_t u = at.units, row = at.row(e);
    S* const gate = gates + row * lstm_gates * u;
    const S* const input = inputs + row * lstm_gates * u;
    S *const state = states + e * u, *const state_before = before + row * u, *const y = out + row * u;
    T* const cell = cells + row * u;
    if (products == nullptr) {
      team.map(Assign{}, lstm_gates * u, gate, input);
      team.each(u, [=](std::size_t c) { state_before[c] = S(T(0)); });
    } else {
      team.map(Add{}, lstm_gates * u, gate, input, products + e * lstm_gates * u);
      team.copy(u, state, state_before);
    }
    team.map(SigmoidOf{}, lstm_cell * u, gate);
    team.map(SigmoidOf{}, u, gate + lstm_output * u);
    S *const i = gate, *const f = gate + lstm_forget * u, *const g = gate + lstm_cell * u;
    team.map(TanhOf{}, u, g);
    if (products == nullptr)
      team.map(Times{}, u, cell, i, g);
    else
      team.map(NextCell{}, u, cell, i, g, f, cells + at.row_before(e) * u);
    team.map(HiddenOf{}, u, y, gate + lstm_output * u, cell);
    team.copy(u, y, state);
  }
};

// Replaces the gates by the gradients of their pre-activations.
template <class S>
struct LstmBackward {
  static constexpr bool elementwise = true;
  using T = Arithmetic<S>;
  LstmTime at;
  const S* d_out;
  S* gates;
  const T* cells;
  T* d_states;  // of h from the step after, per example; used as scratch memory
  T* d_cells;   // of c from the step after, per example
  S* d_sums;    // the same as `gates`, per example; zeros where an example has ended

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    const std::size_t u = at.units;
    S* const d_sum = d_sums + e * lstm_gates * u;
    if (at.ended(e)) return team.each(lstm_gates * u, [=](std::size_t c) { d_sum[c] = S(T(0)); });
    const std::size_t row = at.row(e);
    S* const gate = gates + row * lstm_gates * u;
    S *const i = gate, *const f = gate + lstm_forget * u, *const g = gate + lstm_cell * u,
             *const o = gate + lstm_output * u;
    const T* const cell = cells + row * u;
    T *const dh = d_states + e * u, *const dc = d_cells + e * u;
    team.map(Add{}, u, dh, d_out + row * u);
    team.map(CellGradient{}, u, dc, dh, o, cell);
    team.map(OutputGateGradient{}, u, o, dh, cell);
    team.map(SigmoidGateGradient{}, u, dh, dc, g, i);
    team.map(CellGateGradient{}, u, g, dc, i);
    team.map(Assign{}, u, i, dh);
    if (at.step > 0) {
      team.map(SigmoidGateGradient{}, u, dh, dc, cells + at.row_before(e) * u, f);
      team.map(MultiplyBy{}, u, dc, f);
      team.map(Assign{}, u, f, dh);
    } else {
      team.each(u, [=](std::size_t c) { f[c] = S(T(0)); });
    }
    team.copy(lstm_gates * u, gate, d_sum);
  }
};

}  // namespace algoperf::detail
