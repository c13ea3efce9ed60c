// harness/implement/object/elf.cpp - finds the machine code of an object and hashes it; writes the linker script of one
// random layout.
#include "harness/implement/object/elf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "harness/core/hash.h"
#include "harness/core/system/elf_object.h"
#include "kernels/random.h"

namespace apo {
namespace {

// Loaded into memory, and neither an unwind table nor a note nor nvcc's copy of the device code, which stands in the
// cubin, and its compressed form depends on the source's text.
bool is_loaded(const ElfObject& object, const Elf64_Shdr& header) {
  const std::string name = object.name(header);
  return (header.sh_flags & SHF_ALLOC) != 0 && header.sh_type != SHT_NOTE && name != ".eh_frame" &&
         name != ".nv_fatbin" && name != ".nvFatBinSegment";
}

std::string place(const Elf64_Sym& symbol, std::int64_t addend) {
  return fmt::format("{}+{}", symbol.st_shndx, static_cast<std::int64_t>(symbol.st_value) + addend);
}

// Host code with kernels: an object of nvcc's.
bool has_kernels(const ElfObject& object) {
  return std::ranges::any_of(object.sections(), [&](const auto& each) { return object.name(each) == ".nv_fatbin"; });
}

bool is_strings(const ElfObject& object, std::uint64_t index) {
  return has_kernels(object) && index < object.sections().size() && (object.section(index).sh_flags & SHF_STRINGS) != 0;
}

// Names the target of a relocation: an undefined symbol by its name, everything inside the object by its position.
// Where there are kernels, a string by its text, since that of a kernel's name moves the others.
std::string target_of(const ElfObject& object, const Elf64_Rela& relocation) {
  const Elf64_Sym symbol = object.symbol(ELF64_R_SYM(relocation.r_info));
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_COMMON) {
    return fmt::format("{}+{}", object.name(symbol), relocation.r_addend);
  }
  if (is_strings(object, symbol.st_shndx)) {
    const std::string_view strings = object.contents(object.section(symbol.st_shndx));
    const std::int64_t behind = ELF64_R_TYPE(relocation.r_info) == R_X86_64_PC32 ? 4 : 0;  // relative to what follows
    const auto at = static_cast<std::size_t>(static_cast<std::int64_t>(symbol.st_value) + relocation.r_addend + behind);
    return fmt::format("text {}", strings.substr(std::min(at, strings.size()), strings.find('\0', at) - at));
  }
  return place(symbol, relocation.r_addend);
}

void add_section(const ElfObject& object, std::size_t index, std::vector<std::string>& parts) {
  const Elf64_Shdr& header = object.section(index);
  constexpr std::uint64_t kMeaning = SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR | SHF_MERGE | SHF_STRINGS | SHF_TLS;
  if (is_strings(object, index)) {
    return;
  }
  parts.push_back(
      fmt::format("section {} {} {} {}", index, header.sh_flags & kMeaning, header.sh_addralign, header.sh_size));
  parts.emplace_back(object.contents(header));
  // It hands the runtime the names of kernels and variables, which are no code.
  const bool registers = object.name(header).find("cudaRegisterAll") != std::string::npos;
  for (const Elf64_Rela& relocation : object.relocations_of(index)) {
    const bool is_name = registers && is_strings(object, object.symbol(ELF64_R_SYM(relocation.r_info)).st_shndx);
    parts.push_back(fmt::format("{} {} {}", relocation.r_offset, ELF64_R_TYPE(relocation.r_info),
                                is_name ? "name" : target_of(object, relocation)));
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

// ---------------------------------------------------------------- cubins: sections and the attributes in .nv.info, as
// NVIDIA's own tools name them

// EIATTR_REGCOUNT and EIATTR_FRAME_SIZE: pairs of a symbol's number and a value.
constexpr std::uint8_t kRegisterCount = 0x2f;
constexpr std::uint8_t kFrameSize = 0x11;
// EIFMT_SVAL: the attribute's 16-bit field is the size of the bytes that follow; in every other format it is the value.
constexpr std::uint8_t kSized = 4;
// From sm_90 on each block loses this much shared memory to the system, and the section counts it.
constexpr std::int64_t kReservedShared = 1024;

template <class Integer>
Integer integer_at(std::string_view bytes, std::size_t offset) {
  Integer value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Calls visit(attribute, payload) for every attribute of a .nv.info section.
template <class Visit>
void for_each_attribute(std::string_view info, const Visit& visit) {
  constexpr std::size_t kHead = 4;
  for (std::size_t at = 0; at + kHead <= info.size();) {
    const auto format = integer_at<std::uint8_t>(info, at);
    const auto attribute = integer_at<std::uint8_t>(info, at + 1);
    const std::size_t size = format == kSized ? integer_at<std::uint16_t>(info, at + 2) : 0;
    if (size > info.size() - at - kHead) {
      return;  // damaged; what was read so far stands
    }
    visit(attribute, info.substr(at + kHead, size));
    at += kHead + size;
  }
}

std::string after(const std::string& name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string();
}

KernelFacts* find_kernel(std::vector<KernelFacts>& kernels, const std::string& name) {
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const KernelFacts& kernel) { return kernel.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

void read_attributes(const ElfObject& cubin, std::string_view info, std::vector<KernelFacts>& kernels) {
  for_each_attribute(info, [&](std::uint8_t attribute, std::string_view payload) {
    constexpr std::size_t kPair = 8;
    if ((attribute != kRegisterCount && attribute != kFrameSize) || payload.size() < kPair) {
      return;
    }
    const Elf64_Sym symbol = cubin.symbol(integer_at<std::uint32_t>(payload, 0));
    KernelFacts* kernel = find_kernel(kernels, cubin.name(symbol));
    if (kernel != nullptr) {
      (attribute == kRegisterCount ? kernel->registers : kernel->local_bytes) = integer_at<std::uint32_t>(payload, 4);
    }
  });
}

bool is_constant(const std::string& name) {
  return name.starts_with(".nv.constant");
}

// The kernels' parameters lie in bank 0: names and zeros, no code.
bool is_code(const std::string& name) {
  return name.starts_with(".text.") || name == ".nv.global.init" ||
         (is_constant(name) && !name.starts_with(".nv.constant0"));
}

std::vector<KernelFacts> kernels_of(const ElfObject& cubin) {
  std::vector<KernelFacts> kernels;
  for (const Elf64_Shdr& header : cubin.sections()) {
    // Functions that were not inlined have no .nv.info of their own and end up inside a kernel's section.
    if (const std::string name = after(cubin.name(header), ".text."); !name.empty()) {
      kernels.push_back({.name = name, .text_bytes = static_cast<std::int64_t>(header.sh_size)});
    }
  }
  for (const Elf64_Shdr& header : cubin.sections()) {
    const std::string name = cubin.name(header);
    const auto size = static_cast<std::int64_t>(header.sh_size);
    if (KernelFacts* kernel = find_kernel(kernels, after(name, ".nv.shared.")); kernel != nullptr) {
      kernel->shared_bytes = size;
    } else if (KernelFacts* owner = find_kernel(kernels, after(name, ".nv.constant0.")); owner != nullptr) {
      owner->constant_bytes = size;
    } else if (name == ".nv.info") {
      read_attributes(cubin, cubin.contents(header), kernels);
    }
  }
  return kernels;
}

// The kernels that are not launched. A function that is none has no section .nv.info of its own.
std::vector<std::string> idle_kernels(const ElfObject& cubin, const std::vector<std::string>& launched) {
  std::vector<std::string> idle;
  for (const Elf64_Shdr& header : cubin.sections()) {
    const std::string name = after(cubin.name(header), ".nv.info.");
    if (!name.empty() && !launched.empty() && std::ranges::find(launched, name) == launched.end()) {
      idle.push_back(name);
    }
  }
  return idle;
}

// A reservation of the system stands in a section of its own name.
bool reserves_shared(const ElfObject& cubin) {
  return std::any_of(cubin.sections().begin(), cubin.sections().end(),
                     [&](const Elf64_Shdr& header) { return cubin.name(header).starts_with(".nv.shared.reserved"); });
}

void keep_largest(std::map<std::string, std::int64_t>& resources, const char* name, std::int64_t value) {
  resources[name] = std::max(resources[name], value);
}

}  // namespace

ObjectFacts read_object(std::string_view bytes) {
  const ElfObject object(bytes, ET_REL);
  ObjectFacts facts;
  facts.resources = {{"text_bytes", 0}, {"rodata_bytes", 0}, {"data_bytes", 0}};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < object.sections().size(); ++i) {
    const Elf64_Shdr& header = object.section(i);
    if (!is_loaded(object, header)) {
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

CubinFacts read_cubin(std::string_view bytes, const std::vector<std::string>& launched) {
  const ElfObject cubin(bytes, ET_EXEC);
  const std::vector<std::string> idle = idle_kernels(cubin, launched);
  CubinFacts facts;
  facts.kernels = kernels_of(cubin);
  const bool reserved = reserves_shared(cubin);
  std::vector<std::string> parts;
  facts.resources = {{"text_bytes", 0}, {"writable_bytes", 0}};
  for (KernelFacts& kernel : facts.kernels) {
    if (reserved && kernel.shared_bytes >= kReservedShared) {
      kernel.shared_bytes -= kReservedShared;
    }
    if (std::ranges::find(idle, kernel.name) == idle.end()) {
      parts.push_back(fmt::format("kernel {} {} {}", kernel.registers, kernel.local_bytes, kernel.shared_bytes));
    }
    keep_largest(facts.resources, "registers", kernel.registers);
    keep_largest(facts.resources, "local_bytes", kernel.local_bytes);
    keep_largest(facts.resources, "shared_bytes", kernel.shared_bytes);
    keep_largest(facts.resources, "constant_bytes", kernel.constant_bytes);
    facts.resources["text_bytes"] += kernel.text_bytes;
  }
  for (const Elf64_Shdr& header : cubin.sections()) {
    const std::string name = cubin.name(header);
    const auto is_of = [&](const std::string& kernel) { return name.ends_with("." + kernel); };
    if (is_code(name) && std::ranges::none_of(idle, is_of)) {
      parts.push_back(fmt::format("{} {}", name.substr(0, name.find('.', 1)), header.sh_size));
      parts.emplace_back(cubin.contents(header));
    }
    // A kernel that hides from the compiler what its address is of can store to a constant, and finds it at its next
    // launch: cvta.const gives the address of any. The kernels that do are unknown here.
    if (name.starts_with(".nv.global") || name == ".nv.constant3") {
      facts.resources["writable_bytes"] += static_cast<std::int64_t>(header.sh_size);
    }
  }
  facts.code_hash = sha256_of_parts(parts);
  return facts;
}

}  // namespace apo
