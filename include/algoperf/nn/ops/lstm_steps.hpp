// The elementwise work of one time step of an LSTM: functors of a backend's for_each_row over examples.
#pragma once

#include <cstddef>

#include "../../core/example_rows.hpp"
#include "../../core/half.hpp"
#include "../../core/map_kernels.hpp"
#include "../../core/math.hpp"
#include "../graph/decoding_step.hpp"

namespace algoperf::detail {

// The order of the gates, as in torch: input, forget, cell, output.
enum LstmGate : std::size_t { lstm_input, lstm_forget, lstm_cell, lstm_output, lstm_gates };

// Of a, or of a + b; overwrites x.
struct SigmoidOf {
  template <class T>
  ALGOPERF_HD T operator()(T, T a) const {
    return math::sigmoid(a);
  }
  template <class T>
  ALGOPERF_HD T operator()(T, T a, T b) const {
    return math::sigmoid(a + b);
  }
};
struct TanhOf {
  template <class T>
  ALGOPERF_HD T operator()(T, T a) const {
    return math::tanh(a);
  }
  template <class T>
  ALGOPERF_HD T operator()(T, T a, T b) const {
    return math::tanh(a + b);
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
// The gradients of c, dc + dh o (1 - t^2), and of the pre-activation of o, dh t o (1 - o), with t = tanh(c).
struct CellAndOutputGateGradient {
  template <class T>
  ALGOPERF_HD void operator()(T& d_cell, T& d_output, T dc, T o, T dh, T c) const {
    const T t = math::tanh(c);
    d_cell = dc + dh * o * (T(1) - t * t);
    d_output = dh * t * o * (T(1) - o);
  }
};
// The gradients of the pre-activations of the other gates.
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

// Computes the gates, the cell and h of an element. `product` is the states' part of the pre-activations. If it is
// null, the element is the first of its sequence, and cell_before, the cell of the element before, is not read.
// `product` may be `gate`, and `cell_before` may be `cell`.
template <class Team, class S, class P, class T>
ALGOPERF_HD void lstm_element(const Team& team, std::size_t u, const S* input, const P* product, const T* cell_before,
                              S* gate, T* cell, S* h) {
  S *const f = gate + lstm_forget * u, *const g = gate + lstm_cell * u, *const o = gate + lstm_output * u;
  if (product == nullptr) {
    team.map(SigmoidOf{}, lstm_cell * u, gate, input);
    team.map(TanhOf{}, u, g, input + lstm_cell * u);
    team.map(SigmoidOf{}, u, o, input + lstm_output * u);
    team.map(Times{}, u, cell, gate, g);
  } else {
    team.map(SigmoidOf{}, lstm_cell * u, gate, input, product);
    team.map(TanhOf{}, u, g, input + lstm_cell * u, product + lstm_cell * u);
    team.map(SigmoidOf{}, u, o, input + lstm_output * u, product + lstm_output * u);
    team.map(NextCell{}, u, cell, gate, g, f, cell_before);
  }
  team.map(HiddenOf{}, u, h, o, cell);
}

// One time step of an example. In evaluation, without `before`, the gates and cells are kept per example only.
template <class S>
struct LstmForward {
  static constexpr bool elementwise = true;
  using T = Arithmetic<S>;
  LstmTime at;
  const S* inputs;    // the inputs' part of the pre-activations, per row
  const T* products;  // the states' part, per example; not read at step 0
  S* gates;           // per row; in evaluation per example, where it may be `products`
  S* before;          // h of the step before, per row; null in evaluation
  T* cells;           // as gates
  S* states;          // h, per example
  S* out;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    if (at.ended(e)) return;
    const std::size_t u = at.units, row = at.row(e), place = before == nullptr ? e : row;
    S *const state = states + e * u, *const y = out + row * u;
    T* const cell = cells + place * u;
    const T* cell_before = cell;
    if (before != nullptr) {
      S* const state_before = before + row * u;
      if (at.step > 0) {
        cell_before = cells + at.row_before(e) * u;
        team.copy(u, state, state_before);
      } else {
        team.each(u, [=](std::size_t c) { state_before[c] = S(T(0)); });
      }
    }
    lstm_element(team, u, inputs + row * lstm_gates * u, at.step == 0 ? nullptr : products + e * lstm_gates * u,
                 cell_before, gates + place * lstm_gates * u, cell, y);
    team.copy(u, y, state);
  }
};

// The newest element of each sequence in decoding.
template <class S>
struct LstmStep {
  static constexpr bool elementwise = true;
  using T = Arithmetic<S>;
  std::size_t units;
  GrowingSequences sequences;
  const S* inputs;  // the inputs' part of the pre-activations
  S* gates;         // the states' part of the pre-activations; replaced by the gates. Not read at place 0
  S* before;        // h of each sequence's element before; not read at place 0
  S* states;        // h of each element
  T* cells;         // c of each element
  S* out;

  // Returns where an array of the elements has that of row r `back` steps ago.
  template <class X>
  ALGOPERF_HD X* at(X* elements, std::size_t r, std::size_t back) const {
    return elements + sequences.element(r, sequences.place - back) * units;
  }
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const std::size_t u = units;
    S *const gate = gates + r * lstm_gates * u, *const y = out + r * u;
    const bool first = sequences.place == 0;
    lstm_element(team, u, inputs + r * lstm_gates * u, first ? nullptr : gate, at(cells, r, first ? 0 : 1), gate,
                 at(cells, r, 0), y);
    team.copy(u, y, at(states, r, 0));
  }
};

template <class S>
struct LstmStatesBefore {
  static constexpr bool elementwise = true;
  LstmStep<S> step;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    team.copy(step.units, step.at(step.states, r, 1), step.before + r * step.units);
  }
};

// Row block r of 16 rows of the transpose of a matrix of rows x cols.
template <class S>
struct TransposeRows {
  static constexpr std::size_t block = 16;
  std::size_t rows, cols;
  const S* from;
  S* to;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const std::size_t first = r * block, n = cols - first < block ? cols - first : block, height = rows, width = cols;
    const S* const source = from + first;
    S* const target = to + first * rows;
    team.each(rows, [=](std::size_t i) {
      for (std::size_t j = 0; j < n; ++j) target[j * height + i] = source[i * width + j];
    });
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
    team.map_to_two(CellAndOutputGateGradient{}, u, dc, o, dc, o, dh, cell);
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
