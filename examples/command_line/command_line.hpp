// CommandLine: the options of an example, by CLI11. This header does not include CLI11, which takes longer to compile
// than most examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

class CommandLine {
 public:
  explicit CommandLine(const std::string& description);
  ~CommandLine();

  class Option {
   public:
    Option required();
    Option shows_default();  // in --help
    Option separated_by_commas();
    Option excludes(const Option& other);
    // Restrict the values that parse() accepts.
    Option whole(std::uint64_t least, std::uint64_t most);
    Option real(double least, double most);
    Option positive();
    Option one_of(const std::vector<std::string>& values);

   private:
    friend CommandLine;
    explicit Option(CLI::Option* option) : option_(option) {}
    CLI::Option* option_;
  };

  // Adds an option, or an argument if `name` has no dashes. parse() writes to `value`: a string, a double, an unsigned
  // integer, or a std::vector of strings or of these numbers.
  template <class T>
  Option option(const std::string& name, T& value, const std::string& help);
  Option flag(const std::string& name, bool& value, const std::string& help);

  // Ends the program after --help, or with a message and a status other than 0 if an argument is invalid.
  void parse(int count, const char* const* words);

 private:
  std::unique_ptr<CLI::App> app_;
};
