// harness/exchange/conversion.h - starts one of the Python files beside this one, which convert the program's documents
// to other tools' files and back.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/core/system/files.h"

namespace apo {

struct Converted {
  std::vector<NamedText> files;   // by their path within the conversion's folder
  nlohmann::ordered_json report;  // what it printed
};

// The interpreter. Throws EnvironmentError where there is none.
std::string require_python();

// Runs `python3 HOME/harness/exchange/SCRIPT` with the document on its standard input. Throws UserError with the
// script's message and hint, and EnvironmentError where there is no python3.
Converted convert(const std::filesystem::path& home, const std::string& script, const nlohmann::ordered_json& document);

}  // namespace apo
