#include "algoperf/data/readers/csv.hpp"

#include <doctest/doctest.h>

#include <iomanip>  // declares std::quoted, which must not clash with the library's helpers
#include <string>
#include <vector>

#include "../support/near.hpp"
#include "files.hpp"

namespace ap = algoperf;
using Strings = std::vector<std::string>;

namespace {

const std::string people =
    "age,colour,weight,income\n"
    "30,red,1.5,<=50K\n"
    "40,blue,-2e1,>50K\n"
    "50,red,0,<=50K\n";

// Writes a file `f` in a temporary folder and reads it.
struct CsvFile {
  CsvFile() : f(folder / "f") {}
  ap::Table load(const std::string& bytes, const ap::CsvOptions& options = {}) const {
    return ap::load_csv(folder.write("f", bytes), options);
  }
  std::string error(const std::string& bytes, const ap::CsvOptions& options = {}) const {
    return sentence([&] { load(bytes, options); });
  }
  Folder folder;
  std::string f;
};

// Returns the fields of a categorical column, by row.
Strings fields(const ap::Table& table, std::size_t column) {
  Strings result;
  for (std::size_t row = 0; row < table.rows(); ++row)
    result.push_back(table.columns()[column].categories[static_cast<std::size_t>(table.value(row, column))]);
  return result;
}

}  // namespace

TEST_CASE("numbers are unchanged, categories are one-hot in byte order, labels are classes") {
  const CsvFile file;
  const ap::Table table = file.load(people, {.label = "income"});
  CHECK(table.rows() == 3);
  CHECK(table.columns().size() == 4);
  CHECK(table.columns()[0].numeric);
  CHECK(table.columns()[1].categories == Strings{"blue", "red"});
  CHECK(table.class_names() == Strings{"<=50K", ">50K"});
  CHECK(table.input_names() == Strings{"age", "colour=blue", "colour=red", "weight"});
  const ap::InMemory<float> data = table.examples();
  CHECK(data.shape() == ap::Shape(4));
  CHECK(data.classes() == 2);
  CHECK(data.inputs() == std::vector<float>{30, 0, 1, 1.5f, 40, 1, 0, -20, 50, 0, 1, 0});
  CHECK(data.labels() == std::vector<std::int32_t>{0, 1, 0});
}

TEST_CASE("a gzipped file is found by its name without .gz") {
  const CsvFile file;
  write_gzipped(file.folder, "f.gz", people);
  CHECK(ap::load_csv(file.f, {.label = "income"}).rows() == 3);
  CHECK(sentence([&] { ap::load_csv(file.f, {.limit = 50}); }) ==
        file.f + ".gz: decompresses to more than the limit of 50 bytes");
}

TEST_CASE("standardised numbers have mean 0 and deviation 1; equal numbers become 0") {
  const CsvFile file;
  const ap::Table table = file.load("x,same\n1,0.1\n2,0.1\n6,0.1\n", {.standardise = true});
  CHECK(table.columns()[0].mean == 3);
  CHECK(table.columns()[0].deviation == near(2.160246899469287));  // sqrt(14 / 3)
  CHECK(table.columns()[1].mean == 0.1);
  CHECK(table.columns()[1].deviation == 1);
  const std::vector<float> x = table.inputs();
  CHECK(x[0] == near(-0.9258200997725514));
  CHECK(x[4] == near(1.3887301496588271));
  CHECK(x[1] == 0.0f);
  CHECK(x[5] == 0.0f);
}

TEST_CASE("a second file is encoded with the first file's categories, means and deviations") {
  const CsvFile file;
  const ap::Table train = file.load(people, {.label = "income", .standardise = true});
  // Has additional columns, in another order.
  const std::string other = file.folder.write("test", "id,income,weight,age,colour\n7,>50K,1.5,60,blue\n");
  const ap::InMemory<float> test = ap::load_csv(other, train).examples();
  CHECK(test.labels() == std::vector<std::int32_t>{1});
  CHECK(test.classes() == 2);
  CHECK(test.inputs()[0] == near(20 / 8.16496580927726));
  CHECK(test.inputs()[1] == 1.0f);
  CHECK(test.inputs()[2] == 0.0f);
  CHECK(test.inputs()[3] == train.examples().inputs()[3]);

  const auto error = [&](const std::string& bytes) {
    file.folder.write("test", bytes);
    return sentence([&] { ap::load_csv(other, train); });
  };
  CHECK(error("age,colour,weight,income\n1,red,1,>50K\n1,mauve,1,>50K\n") ==
        other + ":3: column \"colour\" is \"mauve\", which is not one of its 2 categories");
  CHECK(error("age,colour,weight,income\n1,red,1,>60K\n") ==
        other + ":2: column \"income\" is \">60K\", which is not one of its 2 categories");
  CHECK(error("age,colour,weight,income\n?,red,1,>50K\n") == other + ":2: column \"age\" is \"?\", expected a number");
  CHECK(error("age,colour,income\n1,red,>50K\n") ==
        other + ":1: there is no column \"weight\", only \"age\", \"colour\", \"income\"");

  // With unseen_as_zeros, unknown categories set their inputs to 0, except those of the label.
  file.folder.write("test", "age,colour,weight,income\n1,red,1,>50K\n1,mauve,1,<=50K\n");
  const ap::InMemory<float> unseen = ap::load_csv(other, train, {.unseen_as_zeros = true}).examples();
  CHECK(unseen.labels() == std::vector<std::int32_t>{1, 0});
  CHECK(unseen.inputs()[1] == 0.0f);
  CHECK(unseen.inputs()[2] == 1.0f);
  CHECK(unseen.inputs()[5] == 0.0f);
  CHECK(unseen.inputs()[6] == 0.0f);
  CHECK(unseen.inputs()[7] == unseen.inputs()[3]);
  file.folder.write("test", "age,colour,weight,income\n1,mauve,1,>60K\n");
  CHECK(sentence([&] { ap::load_csv(other, train, {.unseen_as_zeros = true}); }) ==
        other + ":2: column \"income\" is \">60K\", which is not one of its 2 categories");

  file.folder.write("test", "weight,colour,age\n1,red,39\n");  // rows without labels, for prediction
  const ap::Table unlabelled = ap::load_csv(other, train);
  CHECK(sentence([&] { unlabelled.examples(); }) == other + ": there is no label column");
  CHECK(!unlabelled.has_label());
  CHECK(unlabelled.inputs().size() == train.examples().shape().size());
}

TEST_CASE("quotes, doubled quotes, all line endings, a byte order mark, no final line ending") {
  const CsvFile file;
  const ap::Table table = file.load(
      "\xEF\xBB\xBF\"name\",n\r\n"
      "\"a, \"\"b\"\"\",1\r\n"
      "\"two\nlines\",2\n"
      "\r\n"
      "\"\",3\n"
      " \xC3\xA4 ,4");
  CHECK(table.columns()[0].name == "name");
  CHECK(fields(table, 0) == Strings{"a, \"b\"", "two\nlines", "", " \xC3\xA4 "});
  CHECK(table.columns()[1].numeric);
  CHECK(table.value(3, 1) == 4);
  CHECK(fields(file.load("a\nx\ny"), 0) == Strings{"x", "y"});
  CHECK(file.load("a\r\n1\r").columns()[0].numeric);  // truncated within the last line ending
  CHECK(fields(file.load("a\r\n\"x\"\r"), 0) == Strings{"x"});
  CHECK(fields(file.load("a\nx\ry\n"), 0) == Strings{"x\ry"});      // CR within a line is a character
  CHECK(fields(file.load("a,b\n1,\n2,\n"), 1) == Strings{"", ""});  // an empty field is a category
}

TEST_CASE("a column is numeric if all its fields are numbers") {
  const CsvFile file;
  const auto numeric = [&](const std::string& field) {
    return file.load("a\n1\n" + field + "\n").columns()[0].numeric;
  };
  for (const char* const number : {"-1", "0.5", ".5", "1e-3", "3.4028234e38", "-0"})
    CHECK_MESSAGE(numeric(number), number);
  for (const char* const none : {"\"\"", "+1", " 1", "1 ", "0x10", "nan", "inf", "1e39", "1e999", "one", "1-"}) {
    CHECK_MESSAGE(!numeric(none), none);
  }
}

TEST_CASE("options: numeric categories sort by value, columns can be required numeric or left out, blanks trimmed") {
  const CsvFile file;
  CHECK(file.load("a\n10\n9\n1\n", {.categorical = {"a"}}).columns()[0].categories == Strings{"1", "9", "10"});
  CHECK(file.load("a\n10\n9\nx\n").columns()[0].categories == Strings{"10", "9", "x"});
  CHECK(file.load("a,y\n1,10\n1,2\n", {.label = "y"}).labels() == std::vector<std::int32_t>{1, 0});
  CHECK(file.error("a\n1\nx\n", {.numeric = {"a"}}) == file.f + ":3: column \"a\" is \"x\", expected a number");
  for (const char* const far : {"1e39", "-1e400"})
    CHECK(file.error(std::string("a\n") + far + "\n", {.numeric = {"a"}}) ==
          file.f + ":2: column \"a\" is \"" + far + "\", expected a number within the range of float");
  CHECK(file.error("a\nnan\n", {.numeric = {"a"}}) == file.f + ":2: column \"a\" is \"nan\", expected a number");
  CHECK(file.error("a,b\n1,\"x\ny\"\n1,?\n", {.numeric = {"a", "b"}}) ==
        file.f + ":2: column \"b\" is \"x?y\", expected a number");
  CHECK(file.error("a\n" + std::string(50, 'x') + "\n", {.numeric = {"a"}}) ==
        file.f + ":2: column \"a\" is \"" + std::string(40, 'x') + "...\", expected a number");
  const ap::Table less = file.load(people, {.label = "income", .without = {"age", "weight"}});
  CHECK(less.input_names() == Strings{"colour=blue", "colour=red"});
  const ap::Table bare =
      file.load("1; a b ;\"c\" \n2;d;e\n", {.separator = ';', .trim = true, .names = {"n", "s", "q"}});
  CHECK(bare.columns()[0].numeric);
  CHECK(fields(bare, 1) == Strings{"a b", "d"});
  CHECK(fields(bare, 2) == Strings{"c", "e"});
  CHECK(fields(file.load("a\tb\n\tx\n", {.separator = '\t', .trim = true}), 0) == Strings{""});
  CHECK(file.load("a\n1\n2\n3\n", {.max_categories = 2}).columns()[0].numeric);
  CHECK(file.error("a\nx\ny\nx\nz\n", {.max_categories = 2}) ==
        file.f +
            ":5: column \"a\" is \"z\", which exceeds the limit of 2 categories; list the column in "
            "CsvOptions::numeric if it holds "
            "numbers");
}

TEST_CASE("a label listed as numeric is a regression target, unscaled") {
  const CsvFile file;
  const std::string homes = "rooms,kind,price\n3,flat,250.5\n5,house,4e2\n1,flat,99\n";
  const ap::Table table = file.load(homes, {.label = "price", .numeric = {"price"}, .standardise = true});
  CHECK(table.input_names() == Strings{"rooms", "kind=flat", "kind=house"});
  const auto examples = table.regression();
  REQUIRE(examples.size() == 3);
  const std::uint32_t all[] = {0, 1, 2};
  float inputs[9], prices[3];
  examples.gather(all, 3, inputs, prices);
  CHECK(prices[0] == 250.5f);
  CHECK(prices[1] == 400);
  CHECK(prices[2] == 99);
  CHECK(inputs[0] == 0);
  CHECK(inputs[5] == 1);
  CHECK(sentence([&] { table.examples(); }) ==
        file.f + ": the label column 'price' is numeric, expected categories; use regression() for real-valued labels");
  CHECK(sentence([&] { file.load(homes, {.label = "kind"}).regression(); }) ==
        file.f + ": the label column 'kind' is categorical, expected numeric (list it in CsvOptions::numeric)");
  CHECK(sentence([&] { file.load(homes).regression(); }) == file.f + ": there is no label column");
}

TEST_CASE("CsvOptions::only selects columns") {
  const CsvFile file;
  const ap::Table table = file.load(people, {.label = "income", .only = {"weight", "age"}});
  CHECK(table.input_names() == Strings{"age", "weight"});
  CHECK(table.labels() == std::vector<std::int32_t>{0, 1, 0});
  CHECK(file.load(people, {.only = {"age"}, .max_categories = 1}).width() == 1);
  CHECK(file.error(people, {.only = {"agee"}}) ==
        file.f + ":1: there is no column \"agee\", only \"age\", \"colour\", \"weight\", \"income\"");
}

TEST_CASE("an invalid table is refused with line and column") {
  const CsvFile file;
  const std::string& f = file.f;
  CHECK(sentence([&] { ap::load_csv(f); }) ==
        f + ": cannot be opened, nor can " + f + ".gz (No such file or directory)");
  CHECK(file.error("") == f + ": is empty, expected a header line");
  CHECK(file.error("\n\r\n") == f + ": is empty, expected a header line");
  CHECK(file.error("a,b\n") == f + ": there are no rows after the header");
  CHECK(file.error("", {.names = {"a"}}) == f + ": there are no rows");
  CHECK(file.error("a,b\n1,2\n1\n") == f + ":3: there are 1 fields, expected 2 as in the header");
  CHECK(file.error("a,b\n\"x\ny\",2\n1,2,3\n") == f + ":4: there are 3 fields, expected 2 as in the header");
  CHECK(file.error("1,2\n", {.names = {"a"}}) == f + ":1: there are 2 fields, expected 1 as in CsvOptions::names");
  CHECK(file.error("a,b\n1,\"x\ny\n") == f + ":2: the quote that opens field 2 is never closed");
  CHECK(file.error("a,b\n1,x\"y\n") ==
        f + ":2: field 2 contains a quote but does not begin with one, expected the whole "
            "field in quotes and inner quotes doubled");
  CHECK(file.error("a,b\n1,\"x\"y\n") ==
        f + ":2: field 2 continues with \"y\" after its closing quote, expected a separator or the end of the line");
  CHECK(file.error("a,b,a\n1,2,3\n") == f + ":1: columns 1 and 3 are both named \"a\"");
  CHECK(file.error("1,2\n", {.names = {"a", "a"}}) ==
        f + " with CsvOptions::names: columns 1 and 2 are both named \"a\"");
  CHECK(file.error("\na,b\n1,2\n", {.label = "income"}) == f + ":2: there is no column \"income\", only \"a\", \"b\"");
  std::string wide = "c0", rows = "0", first = "\"c0\"";
  for (int c = 1; c < 30; ++c) {
    wide += ",c" + std::to_string(c);
    rows += ",0";
    if (c < 20) first += ", \"c" + std::to_string(c) + "\"";
  }
  CHECK(file.error(wide + "\n" + rows + "\n", {.label = "c30"}) ==
        f + ":1: there is no column \"c30\", only " + first + ", ...");
  for (const ap::CsvOptions& options :
       {ap::CsvOptions{.categorical = {"c"}}, ap::CsvOptions{.numeric = {"c"}}, ap::CsvOptions{.without = {"c"}}})
    CHECK(file.error("a,b\n1,2\n", options) == f + ":1: there is no column \"c\", only \"a\", \"b\"");
  CHECK(file.error("a\n1\n", {.categorical = {"a"}, .numeric = {"a"}}) ==
        f + ": column \"a\" is listed in both CsvOptions::numeric and CsvOptions::categorical");
  CHECK(file.error("a,b\n1,2\n", {.label = "a", .without = {"a"}}) ==
        f + ": the label column \"a\" is listed in CsvOptions::without");
  CHECK(file.error("a\n1\n", {.without = {"a"}}) == f + ": no column is left");
  CHECK(file.error("a\n1\n", {.separator = '"'}) ==
        "load_csv: the separator is \"\"\", expected neither a quote nor a line ending");
  CHECK(sentence([&] { file.load("a\n1\n").examples(); }) == f + ": there is no label column");
  CHECK(sentence([&] { file.load("a\n1\n").labels(); }) == f + ": there is no label column");
  CHECK(sentence([&] { file.load("a\n1\n", {.label = "a"}).examples(); }) ==
        f + ": there is no column besides the label");
}

TEST_CASE("a Table constructed directly") {
  CHECK(ap::Table({{"x"}}, 1, {1, 2}).inputs() == std::vector<float>{1, 2});
  CHECK(sentence([] {
          ap::Table({{"x"}, {"y"}}, 2, {1, 2, 3});
        }) == "Table: there are 3 values, expected a multiple of the 2 columns");
  CHECK(sentence([] { ap::Table({}, 0, {}); }) == "Table: there are 0 values, expected a multiple of the 0 columns");
  CHECK(sentence([] { ap::Table({{"x"}}, 2, {1}); }) == "Table: the label is column 2, expected at most 1");
  CHECK(sentence([] { ap::Table({{"x"}}, 1, {1}).labels(); }) == "Table: there is no label column");
}

// The expected values come from Python's csv.reader and statistics (fmean, pstdev) on the same file.
TEST_CASE("the Adult data set") {
  const std::string path = data_path("adult/adult.csv.gz");
  if (path.empty()) return;
  const ap::Table table = ap::load_csv(path, {.label = "income", .standardise = true});
  CHECK(table.rows() == 30162);
  CHECK(table.columns().size() == 15);
  CHECK(table.width() == 104);  // 6 numbers; 7 + 16 + 7 + 14 + 6 + 5 + 2 + 41 categories
  CHECK(table.class_names() == Strings{"<=50K", ">50K"});
  std::size_t counts[2] = {};
  for (const std::int32_t label : table.labels()) ++counts[label];
  CHECK(counts[0] == 22654);
  CHECK(counts[1] == 7508);
  const auto column = [&](std::size_t c, const char* name, double mean, double deviation) {
    CHECK(table.columns()[c].name == name);
    CHECK(table.columns()[c].mean == near(mean, 1e-12));
    CHECK(table.columns()[c].deviation == near(deviation, 1e-12));
  };
  column(0, "age", 38.437901995888865, 13.134447039742295);
  column(2, "fnlwgt", 189793.83393011073, 105651.220088839);
  column(10, "capital_gain", 1092.0078575691268, 7406.2237195486005);
  column(12, "hr_per_week", 40.93123798156621, 11.979785633632552);
  CHECK(table.value(0, 0) == 45);
  CHECK(table.value(0, 2) == 183710);
  CHECK(table.value(30161, 2) == 107812);
  CHECK(fields(table, 3).front() == "9th");
  CHECK(fields(table, 6).back() == "Prof-specialty");
  const ap::InMemory<float> data = table.examples();
  CHECK(data.inputs()[0] == near((45 - 38.437901995888865) / 13.134447039742295));
  double ones = 0;  // in the last row, which has 8 categories
  for (std::size_t i = 0; i < 104; ++i) ones += data.inputs()[30161 * 104 + i] == 1.0f;
  CHECK(ones == 8);
}
