// harness/implement/object/elf.cpp - finds the machine code of an object and hashes it; writes the linker script of one
// random layout.
#include "harness/implement/object/elf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "harness/core/hash.h"
#include "harness/core/system/elf_object.h"
#include "kernels/random.h"

namespace apo {
namespace {

// Loaded into memory and not an unwind table or a note.
bool is_loaded(const ElfObject& object, const Elf64_Shdr& header) {
  return (header.sh_flags & SHF_ALLOC) != 0 && header.sh_type != SHT_NOTE && object.name(header) != ".eh_frame";
}

std::string place(const Elf64_Sym& symbol, std::int64_t addend) {
  return fmt::format("{}+{}", symbol.st_shndx, static_cast<std::int64_t>(symbol.st_value) + addend);
}

// Names the target of a relocation: an undefined symbol by its name, everything inside the object by its position.
std::string target_of(const ElfObject& object, const Elf64_Rela& relocation) {
  const Elf64_Sym symbol = object.symbol(ELF64_R_SYM(relocation.r_info));
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_COMMON) {
    return fmt::format("{}+{}", object.name(symbol), relocation.r_addend);
  }
  return place(symbol, relocation.r_addend);
}

void add_section(const ElfObject& object, std::size_t index, std::vector<std::string>& parts) {
  const Elf64_Shdr& header = object.section(index);
  constexpr std::uint64_t kMeaning = SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR | SHF_MERGE | SHF_STRINGS | SHF_TLS;
  parts.push_back(
      fmt::format("section {} {} {} {}", index, header.sh_flags & kMeaning, header.sh_addralign, header.sh_size));
  parts.emplace_back(object.contents(header));
  for (const Elf64_Rela& relocation : object.relocations_of(index)) {
    parts.push_back(
        fmt::format("{} {} {}", relocation.r_offset, ELF64_R_TYPE(relocation.r_info), target_of(object, relocation)));
  }
}

void add_exports(const ElfObject& object, std::vector<std::string>& parts) {
  for (std::size_t i = 0; i < object.symbol_count(); ++i) {
    const Elf64_Sym symbol = object.symbol(i);
    const bool exported = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_shndx != SHN_UNDEF &&
                          ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT;
    if (exported) {
      parts.push_back("export " + object.name(symbol) + " " + place(symbol, 0));
    }
  }
}

const char* kind_of(const Elf64_Shdr& header) {
  if ((header.sh_flags & SHF_EXECINSTR) != 0) {
    return "text_bytes";
  }
  return (header.sh_flags & SHF_WRITE) != 0 ? "data_bytes" : "rodata_bytes";
}

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

ObjectFacts read_object(std::string_view bytes, const std::vector<std::string>& apart) {
  const ElfObject object(bytes, ET_REL);
  ObjectFacts facts;
  facts.resources = {{"text_bytes", 0}, {"rodata_bytes", 0}, {"data_bytes", 0}};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < object.sections().size(); ++i) {
    const Elf64_Shdr& header = object.section(i);
    if (!is_loaded(object, header) || std::find(apart.begin(), apart.end(), object.name(header)) != apart.end()) {
      continue;
    }
    add_section(object, i, parts);
    facts.resources[kind_of(header)] += static_cast<std::int64_t>(header.sh_size);
    const std::string name = object.name(header);
    if (header.sh_size > 0 && name.starts_with(".text")) {
      facts.text_sections.push_back(name);
    } else if (header.sh_size > 0 && name.starts_with(".rodata")) {
      facts.rodata_sections.push_back(name);
    }
  }
  add_exports(object, parts);
  facts.code_hash = sha256_of_parts(parts);
  return facts;
}

bool defines_symbol(std::string_view bytes, std::string_view name) {
  const ElfObject object(bytes, ET_REL);
  for (std::size_t i = 0; i < object.symbol_count(); ++i) {
    const Elf64_Sym symbol = object.symbol(i);
    if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_shndx != SHN_UNDEF && object.name(symbol) == name) {
      return true;
    }
  }
  return false;
}

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
