// harness/runtime/loaded_code.cpp - compares bytes first, then machine code, and names both hashes.
#include "harness/runtime/loaded_code.h"

#include <fmt/format.h>

#include <exception>

#include "harness/core/guards.h"
#include "harness/core/hash.h"
#include "harness/core/system/files.h"

namespace apo {
namespace {

constexpr std::size_t kShown = 12;  // digits of a hash

// Empty when it has none that could be read.
std::string code_hash(std::string_view image, const CodeOf& code_of) {
  try {
    return code_of ? code_of(image) : "";
  } catch (const std::exception&) {
    return "";  // no cubin: that is what the caller then says
  }
}

std::string describe(std::string_view image) {
  return fmt::format("{} bytes with sha256 {}", image.size(), sha256(image).substr(0, kShown));
}

}  // namespace

std::optional<Failure> compare_loaded(const std::vector<std::string>& images, std::string_view built,
                                      const CodeOf& code_of) {
  for (const std::string& image : images) {
    if (image == built) {
      continue;
    }
    const std::string expected = code_hash(built, code_of);
    if (expected.empty() || code_hash(image, code_of) != expected) {
      return Failure{.outcome = Outcome::faulted,
                     .evidence = "the driver loaded other machine code than was built: " + describe(image) +
                                 " instead of " + describe(built) +
                                 (built.starts_with("\x7f"
                                                    "ELF")
                                      ? ""
                                      : ", which is no cubin: it compiled that itself"),
                     .slot = 0};
    }
  }
  return std::nullopt;
}

std::optional<Failure> check_object(const Build& build) {
  if (build.plan.launches.empty() || build.object_hash.empty() || !guard_is_on(Guard::code)) {
    return std::nullopt;
  }
  const std::string found = sha256(read_file(build.object_path));
  if (found == build.object_hash) {
    return std::nullopt;
  }
  return Failure{.outcome = Outcome::faulted,
                 .evidence = "'" + build.object_path + "' is not what was built: its sha256 is " +
                             found.substr(0, kShown) + " instead of " + build.object_hash.substr(0, kShown)};
}

}  // namespace apo
