// harness/core/records/build.cpp - the resources of a build for people.
#include "harness/core/records/build.h"

#include <fmt/format.h>

#include <string_view>

#include "harness/core/text.h"

namespace apo {

std::string resources_text(const Build& build) {
  constexpr std::string_view kBytes = "_bytes";
  std::vector<std::string> parts;
  for (const auto& [name, value] : build.resources) {
    parts.push_back(name.ends_with(kBytes)
                        ? name.substr(0, name.size() - kBytes.size()) + " " + format_bytes(static_cast<double>(value))
                        : fmt::format("{} {}", name, value));
  }
  return join(parts, ", ");
}

}  // namespace apo
