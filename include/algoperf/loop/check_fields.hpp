// Checks that the fields of a data set fit a model, and that their values are in range, with readable error messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/describe_shape.hpp"
#include "../core/error.hpp"
#include "../core/example_rows.hpp"
#include "../data/fields.hpp"
#include "../nn/graph/model_graph.hpp"

namespace algoperf::detail {

template <class Data>
constexpr void check_labelled() {
  static_assert(!Unlabelled<Data>,
                "algoperf: inputs without labels can be used for prediction only, not for training or evaluation");
}

// Names element `i` of a field of an example in messages.
std::string describe_element(std::string_view field, std::size_t i, std::size_t width, bool token, std::size_t example);

// A field of n examples. Example i has the given rows of `width` elements; its index in the data set is indices[i], or
// first + i if indices is null.
struct FieldPlace {
  const ModelGraph::ValueInfo& field;
  std::size_t width;
  ExampleRows rows;
  const std::uint32_t* indices;
  std::size_t first, n;

  std::size_t elements() const { return rows.begin(n) * width; }
  // Names element i of all examples in messages.
  std::string describe(std::size_t i, bool token) const {
    std::size_t e = 0;
    while (rows.end(e) * width <= i) ++e;
    return describe_element(field.field, i - rows.begin(e) * width, rows.count(e) * width, token, example(e));
  }
  // Returns the index of example e in the data set.
  std::size_t example(std::size_t e) const { return indices == nullptr ? first + e : indices[e]; }
};

// Throws Error, naming the example, if a token of a field is out of range, or if an element of type `parameter` is not
// finite or, as a weight, negative. The elements are at `reals` or, if they are tokens, at `tokens`.
template <class S>
void check_field(const FieldPlace& place, const S* reals, const std::int32_t* tokens, bool weights) {
  const ModelGraph::ValueInfo& field = place.field;
  const std::size_t n = place.elements();
  if (field.value.type == ElementType::token && field.tokens > 0) {
    for (std::size_t i = 0; i < n; ++i)
      if (tokens[i] < 0 || static_cast<std::size_t>(tokens[i]) >= field.tokens)
        fail("data: ", place.describe(i, true), " is ", tokens[i], ", expected [0, ", field.tokens, ")",
             field.field == std::string_view("input") ? ", the model's vocabulary" : "");
  } else if (field.value.type == ElementType::parameter) {
    for (std::size_t i = 0; i < n; ++i)
      if (!(reals[i] - reals[i] == 0) || (weights && reals[i] < 0))
        fail("data: ", place.describe(i, false), " is ", static_cast<double>(reals[i]), ", expected a finite number",
             weights ? " of at least 0" : "");
  }
}

// Throws Error, naming the example, unless each token is the index of a row of its example on the axis of `of`.
void check_row_indices(const FieldPlace& place, const std::int32_t* tokens, const ExampleRows& of, const char* axis);

// Throws Error, naming the example, if one of n examples has more rows on an axis than the model can process.
void check_rows(const ModelGraph& graph, GraphIndex axis, const ExampleRows& rows, const std::uint32_t* indices,
                std::size_t n);

// Throws Error, naming the example, unless its labels can be aligned with `of`, its rows on `axis`
// (GraphBuilder::align).
void check_alignment(const FieldPlace& place, const std::int32_t* labels, const ExampleRows& of, const char* axis);

// Throws Error if images of another shape, but of the model's size, would be read in the wrong order.
void check_image(const Shape& shape, const Shape& in);

template <class Data>
ALGOPERF_COLD void check_input(const ModelGraph::ValueInfo& field, std::size_t width, const Data& data) {
  const Shape shape = data.shape(), in = field.value.shape;
  require(std::is_integral_v<typename Data::Input> || field.value.type != ElementType::token,
          "data: the model takes tokens (integers), but the inputs of the data set are not integers");
  require(shape.size() == width, "data: an example has ", shape.size(), " inputs, the model takes ", width);
  check_image(shape, in);
}
template <class Data>
ALGOPERF_COLD void check_label(const ModelGraph::ValueInfo& field, std::size_t width, const Data& data) {
  constexpr bool classes = std::is_integral_v<LabelOf<Data>>;
  if constexpr (!Unlabelled<Data>) {
    require(
        classes == (field.value.type == ElementType::token),
        "data: the loss does not fit the labels of the data: cross-entropies take class labels, MeanSquaredError and "
        "BinaryCrossEntropy take real-valued labels (InMemoryRegression)");
    require(label_width(data) == width, "data: a label has ", label_width(data), " values, the model has ", width,
            " outputs");
    if constexpr (classes)
      require(data.classes() <= field.tokens, "data: the data has ", data.classes(), " classes, the model ",
              field.tokens, " outputs");
  }
}
// Checks a field by its name in a list.
template <class Data>
ALGOPERF_COLD void check_listed(const ModelGraph& graph, const ModelGraph::ValueInfo& field, const Data& data) {
  using List = FieldsOf<Data>;
  const std::size_t place = List::find(field.field);
  if (place == List::size) {
    std::string names;
    for (const std::string_view name : List::names) names += (names.empty() ? "'" : ", '") + std::string(name) + "'";
    fail("data: the model reads the field '", field.field, "', which the data set does not have; it has ", names);
  }
  const Axis& axis = graph.axes[field.value.axis];
  const std::string_view of_data = axis_of_field(data, field.field);
  if (axis.ragged ? of_data != axis.name : !of_data.empty())
    fail("data: the field '", field.field, "' ",
         of_data.empty() ? "has a fixed number of rows" : "lies on the ragged axis '" + std::string(of_data) + "'",
         ", the model reads it on the ", axis.ragged ? "ragged " : "", "axis '", axis.name, "'");
  if constexpr (FieldDataset<Data>) {
    const bool tokens = List::holds_tokens[place];
    require(tokens == (field.value.type == ElementType::token), "data: the field '", field.field, "' holds ",
            tokens ? "tokens (std::int32_t), the model reads real values" : "real values, the model reads tokens");
    const Shape shape = data.shape(field.field);
    const std::size_t width = (axis.ragged ? 1 : axis.rows) * field.value.shape.size();
    if (shape.size() != width)
      fail("data: the field '", field.field, "' has shape ", describe(shape), " with ", shape.size(), " elements per ",
           axis.ragged ? "row" : "example", ", the model reads ", width);
    check_image(shape, field.value.shape);
  }
}

// Whether a model reads a field on an axis.
bool has_field_on(const ModelGraph& graph, GraphIndex axis);
// Whether predictions need a field: it is an output, or an op other than a loss that runs before the outputs are
// complete reads it.
bool outputs_need(const ModelGraph& graph, const ModelGraph::ValueInfo& field);
// Whether predictions need the rows of an axis: a field that they need, or a value that they compute, lies on it.
bool outputs_need_axis(const ModelGraph& graph, GraphIndex axis);

// Throws Error unless `data` has the fields that a recorded model reads; with_labels: those that only losses read, too.
template <class Data>
ALGOPERF_COLD void check_fits(const ModelGraph& graph, const Data& data, bool with_labels = true) {
  for (const ModelGraph::ValueInfo& field : graph.values) {
    if (!field.is_field() || (!with_labels && !outputs_need(graph, field))) continue;
    check_listed(graph, field, data);
    if constexpr (!FieldDataset<Data>) {
      const std::size_t width = graph.axes[field.value.axis].rows * field.value.shape.size();
      if (field.field == std::string_view("input"))
        check_input(field, width, data);
      else
        check_label(field, width, data);
    }
  }
  for (std::size_t i = 0; i < graph.axes.size(); ++i)
    if (graph.axes[i].ragged && !has_field_on(graph, static_cast<GraphIndex>(i)))
      fail("data: the model reads no field on the ragged axis '", graph.axes[i].name,
           "', so the data set cannot give the numbers of its rows");
  require(data.size() > 0, "data: the data set is empty");
  require(data.size() <= max_examples, "data: the data set has ", data.size(), " examples, expected at most ",
          max_examples, ": indices have 32 bits");
}

// Appends a sentence for each fact about a model and the number of classes of the data, if known, that was probably not
// intended.
void add_doubts(const ModelGraph& graph, std::optional<std::size_t> classes, std::vector<std::string>& doubts);

// Returns a sentence for each fact about data that fits the model but was probably not intended.
template <class Selector, class Data>
ALGOPERF_COLD std::vector<std::string> doubts_about(const ModelGraph& graph, const Selector& selector,
                                                    const Data& data) {
  std::vector<std::string> doubts;
  if constexpr (requires { selector.warning(data.size()); })
    if (std::string doubt = selector.warning(data.size()); !doubt.empty()) doubts.push_back(std::move(doubt));
  std::optional<std::size_t> classes;
  if constexpr (requires { data.classes(); }) classes = data.classes();
  add_doubts(graph, classes, doubts);
  return doubts;
}

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED ALGOPERF_COLD std::string describe_element(std::string_view field, std::size_t i, std::size_t width,
                                                             bool token, std::size_t example) {
  const std::string of = " of example " + std::to_string(example), place = std::to_string(i);
  if (field == "label" && token) return width == 1 ? "the label" + of : "label " + place + of;
  if (field == "label") return "value " + place + " of the label" + of;
  if (field == "input" && token) return "token " + place + of;
  return "element " + place + " of the field '" + std::string(field) + "'" + of;
}

ALGOPERF_COMPILED void check_row_indices(const FieldPlace& place, const std::int32_t* tokens, const ExampleRows& of,
                                         const char* axis) {
  for (std::size_t e = 0; e < place.n; ++e)
    for (std::size_t i = place.rows.begin(e); i < place.rows.end(e); ++i)
      if (tokens[i] < 0 || static_cast<std::size_t>(tokens[i]) >= of.count(e))
        fail("data: ", place.describe(i, true), " is ", tokens[i], ", expected [0, ", of.count(e),
             "), the index of a row of the example on the axis '", axis, "'");
}

ALGOPERF_COMPILED void check_rows(const ModelGraph& graph, GraphIndex index, const ExampleRows& rows,
                                  const std::uint32_t* indices, std::size_t n) {
  const Axis& axis = graph.axes[index];
  for (std::size_t e = 0; axis.most > 0 && e < n; ++e) {
    if (rows.count(e) <= axis.most) continue;
    const char* field = "";  // the first on this axis
    for (const ModelGraph::ValueInfo& info : graph.values)
      if (*field == 0 && info.is_field() && info.value.axis == index) field = info.field;
    fail("data: the field '", field, "' of example ", indices[e], " has ", rows.count(e), " rows on the axis '",
         axis.name, "', expected at most ", axis.most, " (", axis.limit, ")");
  }
}

ALGOPERF_COMPILED void check_alignment(const FieldPlace& place, const std::int32_t* labels, const ExampleRows& of,
                                       const char* axis) {
  for (std::size_t e = 0; e < place.n; ++e) {
    std::size_t needed = place.rows.count(e);
    for (std::size_t i = place.rows.begin(e); i < place.rows.end(e); ++i) {
      if (static_cast<std::size_t>(labels[i]) == place.field.blank)
        fail("data: ", place.describe(i, true), " is ", labels[i], ", the blank, expected another class");
      needed += i > place.rows.begin(e) && labels[i] == labels[i - 1];
    }
    if (needed > of.count(e))
      fail("data: the field '", place.field.field, "' of example ", place.example(e), " has ", place.rows.count(e),
           " labels, ", needed - place.rows.count(e), " of them equal to the one before, and ", of.count(e),
           of.count(e) == 1 ? " row on the axis '" : " rows on the axis '", axis, "', expected at least ", needed,
           " rows");
  }
}

ALGOPERF_COMPILED ALGOPERF_COLD void check_image(const Shape& shape, const Shape& in) {
  if (shape != in && shape.rank == 3 && in.rank == 3)
    fail("data: an example is an image of shape ", describe(shape), ", the model takes ", describe(in),
         " (rows, columns, channels)");
}

ALGOPERF_COMPILED ALGOPERF_COLD bool has_field_on(const ModelGraph& graph, GraphIndex axis) {
  for (const ModelGraph::ValueInfo& info : graph.values)
    if (info.is_field() && info.value.axis == axis) return true;
  return false;
}

ALGOPERF_COMPILED ALGOPERF_COLD bool outputs_need(const ModelGraph& graph, const ModelGraph::ValueInfo& field) {
  for (const GraphIndex output : graph.outputs)
    if (output == field.value.index) return true;
  for (std::size_t i = graph.ops_of_outputs(); i-- > 0;)
    for (std::size_t k = 0; k < graph.ops[i].inputs.count; ++k)
      if (!graph.ops[i].loss && graph.input(graph.ops[i], k) == field.value.index) return true;
  return false;
}

ALGOPERF_COMPILED ALGOPERF_COLD bool outputs_need_axis(const ModelGraph& graph, GraphIndex axis) {
  const std::size_t ops = graph.ops_of_outputs();
  for (const ModelGraph::ValueInfo& info : graph.values) {
    if (info.value.axis != axis) continue;
    if (info.is_field() ? outputs_need(graph, info) : info.producer < ops && !graph.ops[info.producer].loss)
      return true;
  }
  return false;
}

ALGOPERF_COMPILED ALGOPERF_COLD void add_doubts(const ModelGraph& graph, std::optional<std::size_t> classes,
                                                std::vector<std::string>& doubts) {
  if (const GraphIndex input = graph.find_field("input"); input != no_index) {
    const Shape shape = graph.values[input].value.shape;
    if (shape.rank == 3 && shape[0] <= 4 && shape[1] == shape[2] && shape[2] > 4)
      doubts.push_back(message_of({"data: the model reads an example of shape ", describe(shape), " as ", shape[0],
                                   " rows, ", shape[1], " columns and ", shape[2],
                                   " channels; channels come last: ", describe(Shape{shape[1], shape[2], shape[0]})}));
  }
  if (const GraphIndex label = graph.find_field("label"); classes && label != no_index)
    if (const std::size_t outputs = graph.values[label].tokens; *classes < outputs)
      doubts.push_back(message_of({"data: the data has ", *classes, " classes, the model ", outputs,
                                   " outputs; the surplus outputs have no examples"}));
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf::detail
