#include "algoperf/report/svg_chart.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "../support/folder.hpp"

namespace ap = algoperf;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("html: reserved characters are replaced") {
  CHECK(ap::html_text("a<b> & \"c\"") == "a&lt;b&gt; &amp; &quot;c&quot;");
  CHECK(ap::html_table({{"h"}, {"<i>1</i>"}}).find("<tr><td><i>1</i></td></tr>") != std::string::npos);
}

TEST_CASE("html: a page is one file") {
  const Folder folder;
  ap::write_html(folder / "p.html", "a & b", "<p>text</p>");
  const std::string page = bytes_of(folder / "p.html");
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.find("<title>a &amp; b</title>") != std::string::npos);
  CHECK(page.find("<p>text</p>") != std::string::npos);
  CHECK_THROWS_AS(ap::write_html(folder / "none/p.html", "t", ""), ap::Error);
}

TEST_CASE("charts: ticks") {
  const auto ticks = [](std::vector<double> values, bool log) {
    return ap::detail::chart_axis(values, log, 0, 100, NAN, NAN).ticks();
  };
  CHECK(ticks({0, 10}, false) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(ticks({1, 10}, true) == std::vector<double>{1, 2, 5, 10});
  CHECK(ticks({1, 1000}, true) == std::vector<double>{1, 10, 100, 1000});
  CHECK(ticks({3.1, 3.4}, true).size() >= 2);  // no power of ten within: as on a linear axis
  CHECK(ticks({5, 5}, false).size() >= 2);
  CHECK(ticks({1, 1 + 1e-15}, true).size() >= 2);
  CHECK(ticks({1, 1 + 1e-15}, true).size() < 20);
  CHECK(ticks({}, false).size() >= 2);
  CHECK(ticks({-1, -2}, true).size() >= 2);  // nothing positive: linear
}

TEST_CASE("charts: positions, and values that an axis cannot show") {
  ap::SvgChart chart{.x = "x & y", .y = "z", .log_y = true, .lines = {0.5}};
  chart.series.push_back({.points = {{0, 1, "first"}, {1, NAN, "never"}, {2, -1, "never"}, {3, 10, "<last>"}}});
  const std::string svg = ap::draw_svg(chart);
  CHECK(svg.find("x &amp; y") != std::string::npos);
  CHECK(svg.find("data-tip=\"first\"") != std::string::npos);
  CHECK(svg.find("data-tip=\"&lt;last&gt;\"") != std::string::npos);
  CHECK(svg.find("never") == std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(count_of(svg, "<circle") == 2);
  CHECK(count_of(svg, "stroke-dasharray") == 1);
  CHECK(count_of(ap::draw_svg({}), "<svg") == 1);  // an empty chart

  const ap::detail::ChartAxis axis{.low = 1, .high = 100, .from = 200, .to = 0, .log = true};
  CHECK(axis.at(1) == 200);
  CHECK(axis.at(10) == doctest::Approx(100));
  CHECK(axis.at(100) == doctest::Approx(0));
}
