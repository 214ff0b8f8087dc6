// values_dict: a loop's parameters as a StateDict, by tensor name, with their shapes, in host memory.
//
//   values_dict(loop)               the parameters from which training continues
//   evaluation_values_dict(loop)    the parameters that evaluate() and predict() use: averaged if the rule averages
//
//   save_safetensors("model.safetensors", values_dict(loop));
//   load_values(load_safetensors("theirs.safetensors"), loop);
//
// For the full state of a loop, including its rule's state and step: state_dict(loop), load_state_dict(dict, loop)
// (state/state_dict.hpp).
#pragma once

#include <span>
#include <vector>

#include "../core/error.hpp"
#include "../core/layout.hpp"
#include "../state/state_dict.hpp"

namespace algoperf {

namespace detail {

template <class Loop>
std::vector<typename Loop::Backend::Scalar> on_host(const Loop& loop, const typename Loop::Backend::Scalar* arena) {
  std::vector<typename Loop::Backend::Scalar> values(loop.layout().size());
  loop.backend().read(values.size(), arena, values.data());
  return values;
}

template <class Loop>
StateDict dict_of(const Loop& loop, const typename Loop::Backend::Scalar* arena) {
  const auto values = on_host(loop, arena);
  StateDict dict;
  for (const TensorHandle handle : loop.layout().tensors()) {
    const TensorPlace at = loop.layout().place_of(handle);
    const TensorSpec& tensor = loop.layout().spec(handle);
    dict.set(tensor.name, std::span(values).subspan(at.offset, at.size), sides(tensor.shape));
  }
  return dict;
}

}  // namespace detail

template <class Loop>
StateDict values_dict(const Loop& loop) {
  return detail::dict_of(loop, loop.values());
}
template <class Loop>
StateDict evaluation_values_dict(Loop& loop) {
  return detail::dict_of(loop, loop.evaluation_values());
}

// Loads the parameters of the tensors that `where`, a predicate of a TensorSpec, accepts; the dict may hold more. The
// loop's rule, schedule, selector and step remain unchanged. Throws Error, and changes nothing, if the dict lacks one
// of these tensors or has it with another shape or type, or if `where` accepts none.
template <class Loop, class Where>
void load_values(const StateDict& dict, Loop& loop, const Where& where) {
  using Scalar = typename Loop::Backend::Scalar;
  std::vector<Scalar> values = detail::on_host(loop, loop.values());
  std::size_t count = 0;
  for (const TensorHandle handle : loop.layout().tensors()) {
    const TensorSpec& tensor = loop.layout().spec(handle);
    if (!where(tensor)) continue;
    const std::vector<Scalar> found = dict.get<Scalar>(tensor.name);
    const std::vector<std::size_t> sides = detail::sides(tensor.shape);
    const std::vector<std::size_t>& theirs = dict.at(tensor.name).shape;
    require(theirs == sides, "load_values: '", tensor.name, "' has shape ", detail::describe(theirs), ", expected ",
            detail::describe(sides));
    const std::size_t offset = loop.layout().place_of(handle).offset;
    for (std::size_t i = 0; i < found.size(); ++i) values[offset + i] = found[i];
    ++count;
  }
  require(count > 0, "load_values: no tensor of the model was selected");
  loop.backend().write(values.size(), values.data(), loop.values());
}

// Loads all parameters. Throws Error, and changes nothing, if the dict holds any other tensor.
template <class Loop>
void load_values(const StateDict& dict, Loop& loop) {
  for (const StateDict::Array& array : dict.arrays())
    require(loop.layout().contains(array.name), "load_values: '", array.name, "' is not a tensor of the model");
  load_values(dict, loop, otherwise);
}

}  // namespace algoperf
