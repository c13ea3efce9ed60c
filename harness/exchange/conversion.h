// harness/exchange/conversion.h - starts one of the Python files beside this one, which convert the program's documents
// to other tools' files and back.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "kernels/family.h"

namespace apo {

// A family as JSON: what `apo list FAMILY --json` prints and the conversions read. With what only the file of a family
// says (how inputs are drawn, where it came from), null or "" for one without a file.
nlohmann::ordered_json to_document(const Family& family);

struct Converted {
  std::vector<NamedText> files;   // by their path within the conversion's folder
  nlohmann::ordered_json report;  // what it printed
};

// Runs `python3 HOME/harness/exchange/SCRIPT` with the document on its standard input. Throws UserError with the
// script's message and hint, and EnvironmentError where there is no python3.
Converted convert(const std::filesystem::path& home, const std::string& script, const nlohmann::ordered_json& document);

}  // namespace apo
