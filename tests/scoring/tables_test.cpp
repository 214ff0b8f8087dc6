#include <doctest/doctest.h>

#include <algoperf/scoring/readers/claims.hpp>
#include <algoperf/scoring/readers/time_tables.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

struct TableFile {
  Folder folder;
  template <class Read>
  std::string error(const Read& read, const std::string& bytes) const {
    const std::string path = folder.write("f", bytes);
    const std::string found = sentence([&] { read(path); });
    return found.starts_with(path) ? found.substr(path.size()) : found;
  }
};

}  // namespace

TEST_CASE("tables of times: a table per clock, misses, and results that are not there") {
  const Folder folder;
  const std::vector<ap::TimeTable> tables = ap::read_time_tables(folder.write("f",
                                                                              "clock,submission,a,b,published_score\n"
                                                                              "runtime,s,10,inf,0.5\n"
                                                                              "steps,s,20,30,0.25\n"
                                                                              "runtime,t,12,,\n"));
  REQUIRE(tables.size() == 2);
  CHECK(tables[0].suite.name == "runtime");
  CHECK(tables[0].submissions == std::vector<std::string>{"s", "t"});
  CHECK(tables[0].suite.base_count() == 2);
  CHECK(tables[0].at(0, 1) == INFINITY);
  CHECK(tables[0].at(1, 0) == 12);
  CHECK(std::isnan(tables[0].at(1, 1)));
  CHECK(tables[1].at(0, 1) == 30);
}

TEST_CASE("tables of times that are malformed are refused") {
  const TableFile file;
  const auto read = [](const std::string& path) { ap::read_time_tables(path); };
  CHECK(file.error(read, "clock,submission,a\nx,s,nan\n") ==
        ":2: column \"a\" is \"nan\", expected a time above 0, or inf");
  CHECK(file.error(read, "clock,submission,a\nx,s,0\n") ==
        ":2: column \"a\" is \"0\", expected a time above 0, or inf");
  CHECK(file.error(read, "clock,submission,a\nx,s,-\n") == ":2: column \"a\" is \"-\", expected a number");
  CHECK(file.error(read, "clock,submission,a\nx,s,1\nx,s,1\n") ==
        ":3: column \"submission\" is \"s\", expected each submission once per clock");
  CHECK(file.error(read, "clock,submission\nx,s\n") == ":1: there is no column of a workload");
  CHECK(file.error(read, "clock,submission,a\n") == ": there are no rows after the header");
}

TEST_CASE("claims and loss curves") {
  const Folder folder;
  const std::vector<ap::Claim> claims =
      ap::read_claims(folder.write("f", "result,runs,steps,mean_loss\n\"x, y\",3,100,2.5\n2,1,50,2.25\n"));
  REQUIRE(claims.size() == 2);
  CHECK(claims[0].result == "x, y");
  CHECK(claims[0].runs == 3);
  CHECK(claims[0].steps == 100);
  CHECK(claims[1].mean == 2.25);
  const std::vector<ap::LossCurve> curves = ap::read_loss_curves(
      folder.write("g", "result,run,step,validation_loss\nr,1,10,3\nr,2,10,4\nr,1,20,2\nr,1,10,5\n"));
  REQUIRE(curves.size() == 2);
  CHECK(curves[0].losses == std::map<double, double>{{10, 5}, {20, 2}});
  CHECK(curves[1].run == "2");
}

TEST_CASE("claims and loss curves that are malformed are refused") {
  const TableFile file;
  const auto claims = [](const std::string& path) { ap::read_claims(path); };
  const auto curves = [](const std::string& path) { ap::read_loss_curves(path); };
  CHECK(file.error(claims, "result,runs,steps,mean_loss\nr,0,1,2\n") ==
        ":2: column \"runs\" is \"0\", expected at least 1");
  CHECK(file.error(claims, "result,runs,steps,mean_loss\nr,1,1,inf\n") ==
        ":2: column \"mean_loss\" is \"inf\", expected a finite number");
  CHECK(file.error(claims, "result,runs,steps,mean_loss\nr,1,1,2\nr,1,1,2\n") ==
        ":3: column \"result\" is \"r\", expected each result once");
  CHECK(file.error(claims, "result,runs,steps,mean_loss\n") == ": there are no rows after the header");
  CHECK(file.error(curves, "result,run,step,validation_loss\nr,1,-1,2\n") ==
        ":2: column \"step\" is \"-1\", expected a finite number of at least 0");
}
