// summary(model): a table of a model's layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "../core/describe_shape.hpp"
#include "../core/options.hpp"
#include "model.hpp"

namespace algoperf {

namespace detail {

// A row of the table: the layer's index, its name, its output's shape, its parameters and its FLOPs.
inline std::string summary_row(std::string_view index, std::string_view name, std::string_view shape,
                               std::string_view parameters, std::string_view flops) {
  char row[256];
  const auto width = [](std::string_view s) { return static_cast<int>(s.size()); };
  std::snprintf(row, sizeof row, "%-8.*s%-20.*s%-18.*s%14.*s%16.*s\n", width(index), index.data(), width(name),
                name.data(), width(shape), shape.data(), width(parameters), parameters.data(), width(flops),
                flops.data());
  return row;
}

// Returns the name of a layer's type without the library's namespace and without template arguments.
template <class L>
std::string_view layer_name() {
  std::string_view name = type_text<L>();
  name = name.substr(0, name.find('<'));
  const std::size_t space = name.rfind("::");
  return space == std::string_view::npos ? name : name.substr(space + 2);
}

template <class L>
void add_summary(std::string& table, const L& layer, Shape in, const std::string& index);

template <class... Layers>
void add_summary_of(std::string& table, const Sequential<Layers...>& layers, Shape in, const std::string& prefix) {
  for_each_index<sizeof...(Layers)>([&](auto i) {
    const auto& layer = get<i>(layers.layers());
    add_summary(table, layer, in, prefix + std::to_string(i.value));
    in = layer.output(in);
  });
}

// Adds the row of a layer, and of the layers inside it, which count in the layer's own row too.
template <class L>
void add_summary(std::string& table, const L& layer, Shape in, const std::string& index) {
  CostSum cost;
  layer.count_forward(in, 1, cost);
  table += summary_row(index, layer_name<L>(), describe(layer.output(in)), std::to_string(layer.parameters(in)),
                       std::to_string(cost.flops));
  if constexpr (requires { layer.inner(); })
    add_summary_of(table, layer.inner(), in, index + ".");
  else if constexpr (requires { layer.layers(); })
    add_summary_of(table, layer, in, index + ".");
}

}  // namespace detail

// Returns a table of the model's layers: index (as in the names of tensors), type, shape of one example's output,
// trained parameters, FLOPs of one example's forward pass. Rows of layers inside a layer follow it; its row includes
// them. The last row has the totals.
//   std::fputs(summary(model).c_str(), stdout);
template <class Root>
std::string summary(const Model<Root>& model) {
  std::string table = detail::summary_row("", "layer", "output", "parameters", "FLOPs");
  table += detail::summary_row("", "input", describe(model.input()), "", "");
  if constexpr (requires { model.root().layers(); })
    detail::add_summary_of(table, model.root(), model.input(), "");
  else
    detail::add_summary(table, model.root(), model.input(), "0");
  const Cost cost = model.cost();
  return table +
         detail::summary_row("", "total", "", std::to_string(cost.parameters), std::to_string(cost.forward_flops));
}

}  // namespace algoperf
