// What the ranks of a group do together in a training loop, apart from combining gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "../combine/group/ranks.hpp"
#include "../core/layout.hpp"
#include "../data/concept.hpp"
#include "../state/checkpoint_writer.hpp"
#include "diverged.hpp"
#include "report.hpp"
#include "settings.hpp"

namespace algoperf::detail {

// A hash of bytes, eight at a time, because each evaluation hashes all parameters.
std::uint64_t hash_bytes(const void* from, std::size_t size, std::uint64_t sum = 0x9e3779b97f4a7c15u);

// The parameters of a rank, in host memory.
struct RankValues {
  const Layout& layout;
  const void* values;
  std::size_t scalar_size;
  std::vector<char> copy = {};  // of the parameters that are in a device's memory
};
template <class Context>
RankValues values_of(const Context& context) {
  using S = typename Context::Scalar;
  RankValues found{context.layout(), context.values(), sizeof(S)};
  if constexpr (!Context::Backend::on_host) {
    found.copy.resize(context.layout().size() * sizeof(S));
    context.backend().read(context.layout().size(), context.values(), reinterpret_cast<S*>(found.copy.data()));
    found.values = found.copy.data();
  }
  return found;
}

// Throws RankFailure, naming the first tensor that differs, unless the parameters have the same bits on all ranks.
void require_same_parameters(const Ranks& ranks, const RankValues& parameters, std::uint64_t step);

// Throws RankFailure, naming what differs, unless all ranks start a run with the same numbers and parameters.
struct RunStart {
  std::uint64_t step, seed, batch, workers, examples, options;
};
void meet_at_start(const Ranks& ranks, const RunStart& start, const RankValues& parameters);

std::uint64_t hash_of(const Settings& settings);
std::uint64_t hash_of(const Selection& selection);

// Meets the other ranks at a step. Throws RankFailure if a rank has selected other examples than rank 0, and Diverged
// on all ranks if the loss of one is not finite.
std::vector<Ranks::Note> meet_at_step(const Ranks& ranks, const Ranks::Note& mine);

// Checks that all ranks have the same parameters, then adds the sums of an evaluation over them. `scores` is null if
// the metric adds none.
void add_over_ranks(const Ranks& ranks, const RankValues& parameters, std::uint64_t step, double& weight, double& loss,
                    double* scores);

// Sends the other ranks' parts of a combiner's state to rank 0, for a checkpoint.
template <class Combiner, class State>
void gather_state(const Ranks& ranks, const Combiner& combiner, State& state, const char* scope, std::uint64_t step) {
  if constexpr (requires { combiner.part_of_state(state, scope); }) {
    const std::string mine = combiner.part_of_state(state, scope);
    ranks.meet({.at = Meeting::checkpoint, .step = step});
    combiner.take_parts(state, ranks.gather_on_root(mine));
  }
}

// Returns the first reason to stop that a rank has, in the order of ranks.
Control agree_to_stop(const Ranks& ranks, std::uint64_t step, Control mine);

// Throws Diverged on all ranks: the loss of `step` on rank `of` was not finite, as step `now` has found. cause: as this
// rank sees it, for the case that it is rank `of`.
[[noreturn]] void fail_as_diverged(const Ranks& ranks, std::uint64_t step, std::uint64_t now, std::size_t of,
                                   const std::string& cause);

// Makes all ranks throw Diverged, unless they do already.
void share_divergence(const Ranks& ranks, Diverged& diverged);

// Announces the exception that is being handled to the other ranks, and returns what all ranks throw. Returns the
// exception itself if there is one rank, or if all ranks throw it already.
std::exception_ptr share_failure(const Ranks& ranks, std::uint64_t step);

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED ALGOPERF_COLD std::uint64_t hash_bytes(const void* from, std::size_t size, std::uint64_t sum) {
  const char* bytes = static_cast<const char*>(from);
  while (size > 0) {
    std::uint64_t word = 0;
    const std::size_t n = size < sizeof word ? size : sizeof word;
    std::memcpy(&word, bytes, n);
    sum = (sum ^ word) * 0xff51afd7ed558ccdu;
    sum ^= sum >> 32;
    bytes += n;
    size -= n;
  }
  return sum;
}

ALGOPERF_COMPILED ALGOPERF_COLD void require_same_parameters(const Ranks& ranks, const RankValues& parameters,
                                                             std::uint64_t step) {
  std::vector<std::uint64_t> mine;
  for (const TensorHandle handle : parameters.layout.tensors()) {
    const TensorPlace place = parameters.layout.place_of(handle);
    mine.push_back(hash_bytes(static_cast<const char*>(parameters.values) + place.offset * parameters.scalar_size,
                              place.size * parameters.scalar_size));
  }
  const std::size_t n = mine.size();
  const std::vector<std::uint64_t> all = ranks.all_gather(mine, std::vector<std::size_t>(ranks.size(), n));
  std::size_t i = 0;
  for (const TensorHandle handle : parameters.layout.tensors()) {
    for (std::size_t r = 1; r < ranks.size(); ++r)
      if (all[r * n + i] != all[i])
        fail_as<RankFailure>("the tensor '", parameters.layout.spec(handle).name, "' differs between rank ", r, " of ",
                             ranks.size(), " and rank 0 after step ", step);
    ++i;
  }
}

ALGOPERF_COMPILED ALGOPERF_COLD void meet_at_start(const Ranks& ranks, const RunStart& start,
                                                   const RankValues& parameters) {
  ranks.meet({.at = Meeting::start, .step = start.step});
  std::uint64_t layout = parameters.layout.size();
  for (const TensorHandle handle : parameters.layout.tensors()) {
    const TensorSpec& spec = parameters.layout.spec(handle);
    layout = hash_bytes(spec.name.data(), spec.name.size(), layout);
    layout = hash_bytes(&spec.kind, sizeof spec.kind, layout);
    layout = hash_bytes(spec.shape.extents, spec.shape.rank * sizeof spec.shape.extents[0], layout);
  }
  ranks.require_same("the hash of the layout of the parameters", layout);
  ranks.require_same("the seed", start.seed);
  ranks.require_same("the selector's batch", start.batch);
  ranks.require_same("the number of workers", start.workers);
  ranks.require_same("the number of examples of the data set", start.examples);
  ranks.require_same("the hash of the options of the rule, the schedule and the combiner", start.options);
  require_same_parameters(ranks, parameters, start.step);
}

ALGOPERF_COMPILED ALGOPERF_COLD std::uint64_t hash_of(const Settings& settings) {
  CheckpointWriter options;
  settings.visit(options, "");
  settings.visit_combiner(options, "");
  const std::string bytes = options.entries();
  return hash_bytes(bytes.data(), bytes.size());
}

ALGOPERF_COMPILED std::uint64_t hash_of(const Selection& selection) {
  const std::size_t n = selection.indices.size();
  return hash_bytes(selection.weights.data(), n * sizeof selection.weights[0],
                    hash_bytes(selection.indices.data(), n * sizeof selection.indices[0]));
}

ALGOPERF_COMPILED ALGOPERF_COLD std::vector<Ranks::Note> meet_at_step(const Ranks& ranks, const Ranks::Note& mine) {
  try {
    const std::vector<Ranks::Note> notes = ranks.meet(mine);
    for (std::size_t r = 1; r < notes.size(); ++r)
      if (notes[r].selection != notes[0].selection)
        fail_as<RankFailure>("rank ", r, " of ", ranks.size(), " selects other examples than rank 0 at step ",
                             mine.step, ": all ranks must be given the same selector");
    return notes;
  } catch (const RankFailure& failure) {
    if (!failure.diverged) throw;
    throw Diverged(failure);
  }
}

ALGOPERF_COMPILED ALGOPERF_COLD void add_over_ranks(const Ranks& ranks, const RankValues& parameters,
                                                    std::uint64_t step, double& weight, double& loss, double* scores) {
  const std::vector<Ranks::Note> notes =
      ranks.meet({.at = Meeting::evaluation, .step = step, .weight = weight, .loss = loss});
  require_same_parameters(ranks, parameters, step);
  weight = loss = 0;
  for (const Ranks::Note& note : notes) {
    weight += note.weight;
    loss += note.loss;
  }
  if (scores == nullptr) return;
  double sum = 0;
  for (const double of_rank : ranks.all_gather(*scores)) sum += of_rank;
  *scores = sum;
}

ALGOPERF_COMPILED ALGOPERF_COLD Control agree_to_stop(const Ranks& ranks, std::uint64_t step, Control mine) {
  for (const Ranks::Note& note :
       ranks.meet({.at = Meeting::step_end, .step = step, .stop_reason = static_cast<std::uint64_t>(mine)}))
    if (const auto reason = static_cast<Control>(note.stop_reason); reason != Control::go_on) return reason;
  return Control::go_on;
}

ALGOPERF_COMPILED ALGOPERF_COLD void fail_as_diverged(const Ranks& ranks, std::uint64_t step, std::uint64_t now,
                                                      std::size_t of, const std::string& cause) {
  const std::string noticed = step < now ? ", detected at step " + std::to_string(now) : "";
  const bool own = of == ranks.rank();
  Diverged error("training diverged at step " + std::to_string(step) + noticed + ": the loss is not finite; " +
                 (own ? cause : "it is that of rank " + std::to_string(of)));
  error.step = step;
  if (!ranks.alone())
    throw Diverged(ranks.announce(error.what(), step, own ? Ranks::own_divergence : Ranks::divergence));
  throw error;
}

ALGOPERF_COMPILED ALGOPERF_COLD void share_divergence(const Ranks& ranks, Diverged& diverged) {
  if (!ranks.alone() && !diverged.on_all_ranks)
    diverged = Diverged(ranks.announce(diverged.what(), diverged.step, Ranks::own_divergence));
}

ALGOPERF_COMPILED ALGOPERF_COLD std::exception_ptr share_failure(const Ranks& ranks, std::uint64_t step) {
  if (ranks.alone()) return std::current_exception();
  try {
    throw;
  } catch (const RankFailure&) {
    return std::current_exception();
  } catch (const std::exception& error) {
    return std::make_exception_ptr(ranks.announce(error.what(), step));
  } catch (...) {
    return std::make_exception_ptr(ranks.announce("an exception that is not a std::exception", step));
  }
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf::detail
