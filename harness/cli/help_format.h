// harness/cli/help_format.h - lays out the options in a command's --help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace apo {

// Differs from CLI11's: ranges read "(1 to 100)", descriptions wrap at 100 columns, and what an option excludes or
// needs stands behind its description. Where more options than three exclude each other, their groups say so instead.
class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat();
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace apo
