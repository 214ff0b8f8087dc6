#include <doctest/doctest.h>

#include <algoperf/core/nearest.hpp>
#include <algoperf/report/all.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "../support/folder.hpp"
#include "../support/near.hpp"

using namespace algoperf;

namespace {

// A trial with an evaluation every 10 steps, at a second per 10 steps. Its metric starts at 1 and halves each time.
Trial trial(const std::string& rule, std::uint64_t seed, std::size_t evaluations, double target) {
  Trial made{.rule = rule, .seed = seed, .target = {target, true}};
  double metric = 1;
  for (std::size_t i = 1; i <= evaluations; ++i, metric /= 2)
    made.evaluations.push_back({.step = 10 * i,
                                .loss = metric,
                                .metric = metric,
                                .metric_name = "error",
                                .training_seconds = static_cast<double>(i) + static_cast<double>(seed) / 10});
  made.run.evaluated = evaluations > 0;
  if (made.run.evaluated) made.run.best = made.evaluations.back();
  made.run.evaluation_seconds = 0.5;
  return made;
}

}  // namespace

TEST_CASE("a trial's hit is its first evaluation at the target or better") {
  const Trial t = trial("sgd", 1, 4, 0.25);
  REQUIRE(t.hit() != nullptr);
  CHECK(t.hit()->step == 30);
  CHECK(t.seconds_to_target() == near(3.1));
  CHECK(trial("sgd", 1, 2, 0.25).hit() == nullptr);
  CHECK(trial("sgd", 1, 2, 0.25).steps_to_target() == Trial::missed);
}

TEST_CASE("spread: median and range, with misses as infinity") {
  CHECK(spread({3, 1, 2}).median == 2);
  CHECK(spread({4, 1, 2, 3}).median == 2.5);
  CHECK(spread({1, Trial::missed, 2}).median == 2);
  CHECK(spread({std::nan(""), 1, 2}).median == 2);
  CHECK(spread({1, Trial::missed, Trial::missed}).median == Trial::missed);
  CHECK(spread({5, 7}).low == 5);
  CHECK(spread({5, 7}).high == 7);
  CHECK_THROWS_AS(spread({}), Error);
}

TEST_CASE("summaries: rules in order of appearance, ratio to the fastest median") {
  const std::vector<Trial> trials{trial("slow", 1, 4, 0.125), trial("quick", 1, 4, 0.5), trial("slow", 2, 4, 0.125),
                                  trial("never", 1, 2, 0.125)};
  const std::vector<Summary> s = summarize(trials);
  REQUIRE(s.size() == 3);
  CHECK(s[0].rule == "slow");
  CHECK(s[0].trials == 2);
  CHECK(s[0].reached == 2);
  CHECK(s[0].steps.median == 40);
  CHECK(s[0].ratio == near(4.15 / 2.1));
  CHECK(s[1].ratio == 1);
  CHECK(s[2].reached == 0);
  CHECK(s[2].ratio == Trial::missed);
  const std::string table = format_summaries(s, "error");
  CHECK(table.find("slow") != std::string::npos);
  CHECK(table.find("4.15 (4.10 - 4.20)") != std::string::npos);
  CHECK(table.find("missed") != std::string::npos);
  CHECK(format_seconds({0.0031, 0.0031, 0.0031}) == "0.0031");
  CHECK(format_seconds({1234.56, 0.9, 2345.6}) == "1234.56 (0.9 - 2345.60)");
  CHECK_THROWS_WITH_AS(summarize({trial("sgd", 1, 4, 0.125), trial("sgd", 2, 4, 0.5)}),
                       "summarize: trials of 'sgd' have targets 0.125 or less and 0.5 or less", Error);
}

TEST_CASE("logs: CSV has one line per evaluation, JSON has null for a miss") {
  const Folder folder;
  const std::vector<Trial> trials{trial("adamw", 1, 2, 0.5), trial("lamb", 1, 1, 0.5)};
  write_csv(folder / "a.csv", trials);
  CHECK(bytes_of(folder / "a.csv") ==
        "rule,seed,step,training_seconds,evaluation_seconds,loss,metric\n"
        "adamw,1,10,1.100000,0.000000,1,1\nadamw,1,20,2.100000,0.000000,0.5,0.5\nlamb,1,10,1.100000,0.000000,1,1\n");
  write_csv(folder / "b.csv", {trial("sgd, \"0.3\"", 1, 1, 0.5)});
  CHECK(bytes_of(folder / "b.csv").ends_with("\n\"sgd, \"\"0.3\"\"\",1,10,1.100000,0.000000,1,1\n"));
  write_json(folder / "a.json", {{"batch", 128}}, trials);
  const auto json = nlohmann::json::parse(bytes_of(folder / "a.json"));
  CHECK(json["settings"]["batch"] == 128);
  CHECK(json["summaries"][0]["steps_to_target"]["median"] == 20);
  CHECK(json["summaries"][1]["ratio"].is_null());
  CHECK(json["trials"].size() == 2);
}

TEST_CASE("plots: either both files are written, or an error and no partial file") {
  if (std::system("gnuplot --version > /dev/null 2>&1") != 0) {
    MESSAGE("gnuplot is not installed: skipped");
    return;
  }
  const Folder folder;
  const std::vector<Trial> trials{trial("adamw", 1, 5, 0.5), trial("adamw", 2, 4, 0.5), trial("it's", 1, 3, 0.5)};
  plot_metric(folder / "p", "a 'title'", trials, Against::steps);
  CHECK(bytes_of(folder / "p.svg").find("<svg") != std::string::npos);
  CHECK(bytes_of(folder / "p.png").substr(1, 3) == "PNG");
  CHECK_THROWS_WITH_AS(plot_metric("/nowhere/p", "t", trials, Against::steps), doctest::Contains("/nowhere/p.svg"),
                       Error);
  CHECK_THROWS_AS(plot_metric(folder / "q", "t", {}, Against::steps), Error);
}

TEST_CASE("charts: both files contain curves, points, bands and marks") {
  if (std::system("gnuplot --version > /dev/null 2>&1") != 0) {
    MESSAGE("gnuplot is not installed: skipped");
    return;
  }
  const Folder folder;
  draw(folder / "c",
       {.title = "a 'title'",
        .x = "examples",
        .y = "error",
        .series = {{.name = "the law", .points = {{1, 1}, {100, 0.1}}},
                   {.name = "measured", .points = {{1, 0.9}, {100, 0.12}}, .draw = Draw::dots, .color = 1}},
        .bands = {{.name = "its noise", .points = {{1, 0.9, 1.1}, {100, 0.09, 0.11}}}},
        .marks = {{"the floor begins", 50}}});
  const std::string picture = bytes_of(folder / "c.svg");
  for (const char* text : {"the law", "measured", "its noise", "the floor begins", "examples"})
    CHECK(picture.find(text) != std::string::npos);
  CHECK(bytes_of(folder / "c.png").size() > 1000);
  // Points that the axes cannot show are skipped; a name is reduced to one line.
  draw(folder / "d", {.title = "t",
                      .x = "x",
                      .y = "y",
                      .series = {{.name = "two\nlines", .points = {{0, 1}, {-1, 2}, {1, 1}, {2, NAN}, {3, 2}}},
                                 {.name = "empty", .points = {}}}});
  CHECK(bytes_of(folder / "d.svg").find("two lines") != std::string::npos);
  for (const Chart& chart :
       {Chart{}, Chart{.title = "t", .x = "x", .y = "y", .series = {{.name = "a", .points = {{0, 1}, {-2, 3}}}}}})
    CHECK_THROWS_WITH_AS(draw("/nowhere/c", chart), "/nowhere/c: there is no point above 0 to draw", Error);
}

TEST_CASE("plots: without gnuplot a long script gives an error and does not kill the process") {
  const Folder folder;
  std::vector<Trial> trials{trial("adamw", 1, 9000, 0.5)};
  for (EvaluationReport& e : trials[0].evaluations) e.metric = 0.123456789;
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  CHECK_THROWS_WITH_AS(plot_metric(folder / "p", "t", trials, Against::steps),
                       ((folder / "p.svg") + ": gnuplot could not be started (is it installed?)").c_str(), Error);
  setenv("PATH", path.c_str(), 1);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("plots: every range has ticks") {
  CHECK(detail::metric_ticks(0.02, 0.9) == std::vector<double>{0.02, 0.05, 0.1, 0.2, 0.5});
  const std::vector<double> nats = detail::metric_ticks(1.5, 4.1);
  CHECK(nats == std::vector<double>{1.5, 2, 2.5, 3, 3.5, 4});
  CHECK(detail::metric_ticks(0.971, 0.98).size() >= 3);
  CHECK(detail::metric_axis(1, 10) == "set logscale y\nset yrange [0.933254:10.7152]\nset ytics (1, 2, 5, 10)\n");
  CHECK(detail::metric_axis(0.3, 0.3) == "set logscale y\n");
  CHECK(detail::metric_axis(Trial::missed, 0) == "");
}

TEST_CASE("plots: the median equals that of the table") {
  std::vector<Trial> trials{trial("sgd", 1, 2, 0.5), trial("sgd", 2, 2, 0.5)};
  trials[1].evaluations[0].metric = 4;
  const auto curve = detail::median_curve({&trials[0], &trials[1]}, Against::training_seconds);
  CHECK(curve[0].y == spread({1, 4}).median);
  CHECK(curve[0].x == near(1.15));
}

TEST_CASE("a diverged trial reports the step of divergence in the table and in JSON") {
  const Folder folder;
  std::vector<Trial> trials{trial("sgd", 1, 4, 0.5), trial("sgd", 2, 1, 0.5)};
  trials[0].run.reason = Control::target_reached;
  trials[1].run.reason = Control::diverged;
  trials[1].run.last.now.t = 16;
  trials[1].failure = "training diverged at step 17";
  CHECK(format_summaries(summarize(trials), "error").find("1/2 (diverged at 17)") != std::string::npos);
  write_json(folder / "a.json", nlohmann::json::object(), trials);
  const auto json = nlohmann::json::parse(bytes_of(folder / "a.json"));
  CHECK(json["trials"][0]["diverged_at_step"].is_null());
  CHECK(json["trials"][1]["ended"] == "diverged");
  CHECK(json["trials"][1]["steps"] == 16);
  CHECK(json["trials"][1]["diverged_at_step"] == 17);
  CHECK(json["trials"][1]["best_metric"] == 1);
  CHECK(json["summaries"][0]["diverged_at_steps"] == std::vector<int>{17});
}

TEST_CASE("nearest suggests the closest name") {
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(nearest("adam", {"sgd", "adamw", "lamb"}) == "adamw");
  CHECK(nearest("--seed", {"--help", "--seeds"}) == "--seeds");
}
