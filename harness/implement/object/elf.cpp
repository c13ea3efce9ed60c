// harness/implement/object/elf.cpp - finds the machine code of an object and hashes it.
#include "harness/implement/object/elf.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/hash.h"
#include "harness/core/system/elf_object.h"

namespace apo {
namespace {

using Object = ElfObject;

// Loaded into memory and not an unwind table or a note.
bool is_loaded(const Object& object, const Elf64_Shdr& header) {
  return (header.sh_flags & SHF_ALLOC) != 0 && header.sh_type != SHT_NOTE && object.name(header) != ".eh_frame";
}

std::string place(const Elf64_Sym& symbol, std::int64_t addend) {
  return fmt::format("{}+{}", symbol.st_shndx, static_cast<std::int64_t>(symbol.st_value) + addend);
}

// Names the target of a relocation: an undefined symbol by its name, everything inside the object by its position.
std::string target_of(const Object& object, const Elf64_Rela& relocation) {
  const Elf64_Sym symbol = object.symbol(ELF64_R_SYM(relocation.r_info));
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_COMMON) {
    return fmt::format("{}+{}", object.name(symbol), relocation.r_addend);
  }
  return place(symbol, relocation.r_addend);
}

void add_section(const Object& object, std::size_t index, std::vector<std::string>& parts) {
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

void add_exports(const Object& object, std::vector<std::string>& parts) {
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

}  // namespace

ObjectFacts read_object(std::string_view bytes, const std::vector<std::string>& apart) {
  const Object object(bytes, ET_REL);
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
  const Object object(bytes, ET_REL);
  for (std::size_t i = 0; i < object.symbol_count(); ++i) {
    const Elf64_Sym symbol = object.symbol(i);
    if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_shndx != SHN_UNDEF && object.name(symbol) == name) {
      return true;
    }
  }
  return false;
}

}  // namespace apo
