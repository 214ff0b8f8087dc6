// Settings: what must be equal for a checkpoint to continue a run, apart from its state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../core/error.hpp"
#include "../core/options.hpp"

namespace algoperf {

// The seed, and the options of the rule, the schedule and the combiner of a TrainingLoop. Not compared are predicates,
// lambdas, and types of the user without a member visit_options (core/options.hpp).
class Settings {
 public:
  template <class Rule, class Schedule, class CombinerType>
  Settings(std::uint64_t seed, const Rule& rule, const Schedule& schedule, const CombinerType& combiner)
      : seed_(seed), rule_(rule), schedule_(schedule), combiner_(combiner) {}

  // Writes the settings, or reads those of a checkpoint and throws Error, with `path`, unless they are equal to these.
  template <class Archive>
  void visit(Archive& archive, const std::string& path) const {
    std::uint64_t seed = seed_;
    archive.number("seed", seed);
    require(seed == seed_, path, ": the run had Seed{", seed, "}, now it has Seed{", seed_, "}", hint);
    visit(archive, path, "rule", rule_);
    visit(archive, path, "schedule", schedule_);
  }
  // The same for the options of the combiner, which checkpoints of earlier versions lack.
  template <class Archive>
  void visit_combiner(Archive& archive, const std::string& path) const {
    visit(archive, path, "combiner", combiner_);
  }
  // Whether all options of the schedule can be compared.
  bool schedule_compared() const { return schedule_.complete; }

 private:
  static constexpr const char* hint = "; to continue regardless, pass Checkpoints(path, {.resume = Resume::any})";

  template <class Archive>
  static void visit(Archive& archive, const std::string& path, const std::string& role,
                    const detail::Options& options) {
    const std::vector<double>& now = options.values;
    std::uint64_t count = now.size();
    archive.number((role + "_count").c_str(), count);
    require(count == now.size(), path, ": the ", role, " had ", count, " options, now it has ", now.size(), hint);
    std::vector<double> saved = now;
    archive.array((role + "_options").c_str(), saved.data(), saved.size());
    for (std::size_t i = 0; i < now.size(); ++i)
      require(saved[i] == now[i] || (saved[i] != saved[i] && now[i] != now[i]), path, ": ", options.describe(i),
              ", in the order of their declaration, was ", saved[i], ", now it is ", now[i], hint);
  }

  std::uint64_t seed_;
  detail::Options rule_, schedule_, combiner_;
};

}  // namespace algoperf
