// harness/implement/object/layout.cpp - writes the linker script of one random layout.
#include "harness/implement/object/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "kernels/random.h"

namespace apo {
namespace {

constexpr std::uint64_t kLine = 64;            // bytes of a cache line
constexpr std::uint64_t kFirstGapLines = 512;  // up to 32 KiB, so that page offset and cache set are drawn too
constexpr std::uint64_t kGapLines = 8;

// Section names of a C++ compiler; anything else stays where the default script puts it.
bool can_stand_in_a_script(std::string_view name) {
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '$'; });
}

std::string shuffled(std::vector<std::string> names, Random& random) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  shuffle(names, random);
  std::string text = fmt::format("    . = . + {};\n", kLine * random.below(kFirstGapLines));
  for (const std::string& name : names) {
    if (can_stand_in_a_script(name)) {
      text += fmt::format("    *({})\n    . = . + {};\n", name, kLine * random.below(kGapLines));
    }
  }
  return text;
}

std::string output_section(const std::string& name, const std::string& body, const std::string& where) {
  return "SECTIONS {\n  " + name + " : {\n" + body + "  }\n} INSERT " + where + ";\n";
}

}  // namespace

std::string layout_script(const ObjectFacts& object, std::uint64_t seed) {
  Random random(derive_seed(seed, "layout"));
  std::string script;
  if (!object.text_sections.empty()) {
    script += output_section(".text.layout", shuffled(object.text_sections, random), "BEFORE .text");
  }
  if (!object.rodata_sections.empty()) {
    script += output_section(".rodata.layout", shuffled(object.rodata_sections, random), "AFTER .rodata");
  }
  return script;
}

}  // namespace apo
