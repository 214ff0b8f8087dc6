#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "flags.hpp"

CommandLine::CommandLine(const std::string& description) : app_(std::make_unique<CLI::App>(description)) {}
CommandLine::~CommandLine() = default;

CommandLine::Option CommandLine::Option::required() {
  option_->required();
  return *this;
}
CommandLine::Option CommandLine::Option::shows_default() {
  option_->capture_default_str();
  return *this;
}
CommandLine::Option CommandLine::Option::separated_by_commas() {
  option_->delimiter(',');
  return *this;
}
CommandLine::Option CommandLine::Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}
CommandLine::Option CommandLine::Option::whole(std::uint64_t least, std::uint64_t most) {
  option_->check(flags::whole(least, most));
  return *this;
}
CommandLine::Option CommandLine::Option::real(double least, double most) {
  option_->check(flags::real(least, most));
  return *this;
}
CommandLine::Option CommandLine::Option::positive() {
  option_->check(flags::positive());
  return *this;
}
CommandLine::Option CommandLine::Option::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

template <class T>
CommandLine::Option CommandLine::option(const std::string& name, T& value, const std::string& help) {
  return Option(app_->add_option(name, value, help));
}
#define INSTANTIATE(T) template CommandLine::Option CommandLine::option<T>(const std::string&, T&, const std::string&)
INSTANTIATE(std::string);
INSTANTIATE(double);
INSTANTIATE(unsigned);
INSTANTIATE(unsigned long);
INSTANTIATE(unsigned long long);
INSTANTIATE(std::vector<double>);
INSTANTIATE(std::vector<std::size_t>);
INSTANTIATE(std::vector<std::string>);

CommandLine::Option CommandLine::flag(const std::string& name, bool& value, const std::string& help) {
  return Option(app_->add_flag(name, value, help));
}

void CommandLine::parse(int count, const char* const* words) {
  try {
    app_->parse(count, words);
  } catch (const CLI::ParseError& error) {
    std::exit(app_->exit(error));
  }
}
