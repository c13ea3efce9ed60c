// tests/implement/code_hashes.cpp - prints two hashes of settings of variants, by which they are told to be one
// program: code_hashes FAMILY WORKLOAD FILE[NAME=VALUE,...]... A workload is a name or AXIS=SIZE,... The first hash is
// that of the instructions and launches of a device variant, the second its code hash, which named constants are part
// of even where no instruction reads them. Not a test. Device variants are compiled for the facts of an H200; no GPU is
// needed.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/system/elf_object.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/families/known_families.h"
#include "harness/implement/builder.h"
#include "harness/implement/variant/launch_plan.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"

namespace apo {
namespace {

Settings numbers_of(const std::string& text) {
  Settings numbers;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> sides = split(part, '=');
    const auto value = sides.size() == 2 ? parse_int(sides[1]) : std::nullopt;
    if (!value) {
      throw UserError("'" + part + "' is not NAME=NUMBER");
    }
    numbers[sides[0]] = *value;
  }
  return numbers;
}

Axes axes_of(const Family& family, const std::string& text) {
  for (const Workload& workload : family.workloads) {
    if (workload.name == text) {
      return workload.axes;
    }
  }
  const Settings numbers = numbers_of(text);
  return {numbers.begin(), numbers.end()};
}

DeviceFacts h200() {
  return {.name = "H200", .major = 9, .sms = 132, .threads_per_block = 1024, .shared_per_block = 232'448};
}

// Of a device variant; else its code hash.
std::string hash_of_instructions(const Build& build) {
  if (build.plan.launches.empty()) {
    return build.code_hash;
  }
  const std::string bytes = read_file(build.object_path);
  const ElfObject cubin(bytes, ET_EXEC);
  std::vector<std::string> parts = {plan_text(build.plan)};
  for (const Elf64_Shdr& header : cubin.sections()) {
    if (cubin.name(header).starts_with(".text.")) {
      parts.emplace_back(cubin.contents(header));
    }
  }
  return sha256_of_parts(parts);
}

void print_hash(const Builder& builder, const Family& family, const Axes& axes, const std::string& text) {
  const std::size_t open = std::min(text.find('['), text.size());
  const std::filesystem::path file = std::filesystem::absolute(text.substr(0, open)).lexically_normal();
  const std::string list = text.substr(open);
  const Variant variant = load_variant(file.string(), {file.parent_path().parent_path()}, family.name);
  const Settings settings = list.size() > 2 ? numbers_of(list.substr(1, list.size() - 2)) : Settings();
  const Build build = builder.build(family, variant, axes, settings);
  if (build.outcome == Outcome::valid) {
    std::cout << hash_of_instructions(build).substr(0, 16) << "  " << build.code_hash.substr(0, 16) << "  " << text
              << "\n";
  } else {
    std::cout << to_string(build.outcome) << "  " << build.evidence << "  " << text << "\n" << build.log;
  }
}

int run(const std::vector<std::string>& words) {
  const TemporaryFolder folder;
  add_known_families("", {.cache = folder.path(), .home = home_folder()});
  const Family* family = words.size() > 3 ? find_family(words[1]) : nullptr;
  if (family == nullptr) {
    throw UserError("usage: code_hashes FAMILY WORKLOAD FILE[NAME=VALUE,...]...");
  }
  const Builder builder({.cache = folder.path(), .home = home_folder(), .device = h200()});
  for (std::size_t i = 3; i < words.size(); ++i) {
    print_hash(builder, *family, axes_of(*family, words[2]), words[i]);
  }
  return 0;
}

}  // namespace
}  // namespace apo

int main(int argc, char** argv) {
  try {
    return apo::run({argv, argv + argc});
  } catch (const apo::UserError& error) {
    std::cerr << error.what() << "\n" << error.hint() << "\n";
    return 1;
  }
}
