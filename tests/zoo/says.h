// tests/zoo/says.h - what a candidate of the zoo says about itself.
#pragma once

#include <string>
#include <vector>

#include "harness/core/text.h"

namespace apo::testing {

// What stands behind KEY in the lines "// zoo: KEY WORDS; KEY WORDS"; "" where none has it.
inline std::string zoo_says(const std::string& source, const std::string& key) {
  const std::string mark = "// zoo: ";
  for (const std::string& line : split(source, '\n')) {
    for (const std::string& part : split(line.starts_with(mark) ? line.substr(mark.size()) : "", ';')) {
      if (trim(part).starts_with(key + " ")) {
        return trim(trim(part).substr(key.size()));
      }
    }
  }
  return "";
}

// The words that the evidence has to hold.
inline std::vector<std::string> zoo_evidence(const std::string& source) {
  std::vector<std::string> parts;
  for (const std::string& part : split(zoo_says(source, "evidence"), ',')) {
    if (!trim(part).empty()) {
      parts.push_back(trim(part));
    }
  }
  return parts;
}

}  // namespace apo::testing
