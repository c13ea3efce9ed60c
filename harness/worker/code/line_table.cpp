// harness/worker/code/line_table.cpp - runs the line programs of a cubin (DWARF 2, section 6.2).
#include "harness/worker/code/line_table.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "harness/core/system/elf_object.h"

namespace apo {
namespace {

// A function of at most so many lines says little by which of them is executed, and much by who calls it.
constexpr int kShortFunction = 4;

enum StandardOpcode : unsigned {
  kExtended = 0,
  kCopyRow = 1,
  kAdvanceAddress = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kAddConstantAddress = 8,
  kAdvanceFixedAddress = 9
};
enum ExtendedOpcode : unsigned { kEndSequence = 1, kSetAddress = 2, kInlinedCall = 0x90 };

// Reads a section from its front; std::out_of_range at its end.
class SectionReader {
 public:
  explicit SectionReader(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return at_ == bytes_.size(); }
  std::size_t position() const { return at_; }
  template <class Integer>
  Integer fixed() {
    Integer value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t variable() { return leb128().first; }
  std::int64_t variable_signed() {
    const auto [value, bits] = leb128();
    const bool negative = bits < 64 && (value >> (bits - 1) & 1) != 0;
    return static_cast<std::int64_t>(negative ? value | ~std::uint64_t{0} << bits : value);
  }
  std::string text() {
    const std::size_t end = std::min(bytes_.find('\0', at_), bytes_.size());
    const std::string_view with_end = take(end - at_ + 1);
    return std::string(with_end.substr(0, with_end.size() - 1));
  }
  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) {
      throw std::out_of_range("the section ends early");
    }
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }

 private:
  // The value and the number of bits that were given.
  std::pair<std::uint64_t, unsigned> leb128() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      value |= shift < 64 ? std::uint64_t{byte & 0x7fU} << shift : 0;
      if ((byte & 0x80) == 0) {
        return {value, shift + 7};
      }
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

// "reduce" of "_Z6reduceILi4EEfPKf"; its namespaces and arguments say little beside the line.
std::string function_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  std::string name = text != nullptr ? text.get() : mangled;
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (std::size_t at = name.find(kUnnamed); at != std::string::npos; at = name.find(kUnnamed)) {
    name.erase(at, kUnnamed.size());
  }
  name.resize(std::min(name.size(), name.find_first_of("<(")));
  const std::size_t begin = name.find_last_of(" :");
  return begin == std::string::npos ? name : name.substr(begin + 1);
}

struct LineProgramHeader {
  std::uint8_t shortest_instruction = 1;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t opcode_base = 10;
  std::string_view argument_counts;
  std::vector<std::string> files;  // without their folders
};

// Of the versions 2 to 4. `program` stands behind the length, and behind the header and what fills it up afterwards.
LineProgramHeader read_header(SectionReader& program) {
  const auto version = program.fixed<std::uint16_t>();
  if (version < 2 || version > 4) {
    throw std::out_of_range("an unknown version");
  }
  SectionReader fields(program.take(program.fixed<std::uint32_t>()));
  LineProgramHeader header;
  header.shortest_instruction = fields.fixed<std::uint8_t>();
  fields.take(version == 4 ? 2 : 1);  // operations in an instruction; whether rows are statements at first
  header.line_base = fields.fixed<std::int8_t>();
  header.line_range = std::max<std::uint8_t>(1, fields.fixed<std::uint8_t>());
  header.opcode_base = std::max<std::uint8_t>(1, fields.fixed<std::uint8_t>());
  header.argument_counts = fields.take(header.opcode_base - 1U);
  while (!fields.text().empty()) {  // folders
  }
  for (std::string file = fields.text(); !file.empty(); file = fields.text()) {
    header.files.push_back(std::filesystem::path(file).filename().string());
    fields.variable();  // its folder, time and size
    fields.variable();
    fields.variable();
  }
  return header;
}

// The rows of one kernel after the other.
class LineProgram {
 public:
  LineProgram(LineProgramHeader header, std::string_view function_names)
      : header_(std::move(header)), function_names_(function_names) {}

  // Calls kernel_at(position of an address in the section), which sets the kernel, and finished(kernel, rows).
  template <class KernelAt, class Finished>
  void run(SectionReader& program, std::size_t section_offset, const KernelAt& kernel_at, const Finished& finished) {
    while (!program.at_end()) {
      const unsigned opcode = program.fixed<std::uint8_t>();
      if (opcode >= header_.opcode_base) {
        special(opcode);
      } else if (opcode != kExtended) {
        standard(opcode, program);
      } else if (const std::size_t address_at = extended(program); address_at != 0) {
        kernel_ = kernel_at(section_offset + address_at);
      } else if (ended_) {
        rows_.push_back({.address = address_});  // behind the kernel
        finished(kernel_, std::exchange(rows_, {}));
        *this = LineProgram(std::move(header_), function_names_);
      }
    }
  }

 private:
  void advance(std::uint64_t operations) { address_ += operations * header_.shortest_instruction; }
  void copy_row() {
    rows_.push_back({.address = address_,
                     .file = file_ > 0 && file_ <= header_.files.size() ? header_.files[file_ - 1] : "",
                     .line = static_cast<int>(line_),
                     .caller = caller_,
                     .function = caller_ > 0 ? function_ : ""});
  }
  void special(unsigned opcode) {
    const unsigned adjusted = opcode - header_.opcode_base;
    advance(adjusted / header_.line_range);
    line_ += header_.line_base + static_cast<int>(adjusted % header_.line_range);
    copy_row();
  }
  void standard(unsigned opcode, SectionReader& program) {
    switch (opcode) {
      case kCopyRow:
        return copy_row();
      case kAdvanceAddress:
        return advance(program.variable());
      case kAdvanceLine:
        line_ += program.variable_signed();
        return;
      case kSetFile:
        file_ = program.variable();
        return;
      case kAddConstantAddress:
        return advance((255U - header_.opcode_base) / header_.line_range);
      case kAdvanceFixedAddress:
        address_ += program.fixed<std::uint16_t>();
        return;
      default:
        for (int i = 0; i < header_.argument_counts[opcode - 1]; ++i) {
          program.variable();
        }
    }
  }
  // The position of the address where one is set, else 0.
  std::size_t extended(SectionReader& program) {
    const std::uint64_t length = program.variable();
    const std::size_t begin = program.position();
    SectionReader operation(program.take(length));
    const unsigned opcode = operation.fixed<std::uint8_t>();
    if (opcode == kSetAddress) {
      address_ = 0;  // what it is relocated by is the kernel
      return begin + operation.position();
    }
    if (opcode == kInlinedCall) {
      caller_ = operation.variable();
      const std::uint64_t name = operation.variable();
      const std::string_view from = function_names_.substr(std::min<std::size_t>(name, function_names_.size()));
      function_ = from.substr(0, from.find('\0'));
    }
    ended_ = opcode == kEndSequence;
    return 0;
  }

  LineProgramHeader header_;
  std::string_view function_names_;
  std::string kernel_;
  std::vector<LineTable::Row> rows_;
  std::uint64_t address_ = 0;
  std::uint64_t file_ = 1;
  std::int64_t line_ = 1;
  std::size_t caller_ = 0;
  std::string function_;
  bool ended_ = false;
};

// The kernel whose section the address at each place of .debug_line belongs to.
std::map<std::size_t, std::string> kernels_by_place(const ElfObject& cubin, std::size_t section) {
  constexpr std::string_view kText = ".text.";
  std::map<std::size_t, std::string> kernels;
  for (const Elf64_Rela& relocation : cubin.relocations_of(section)) {
    const std::string text = cubin.name(cubin.section(cubin.symbol(ELF64_R_SYM(relocation.r_info)).st_shndx));
    if (text.starts_with(kText)) {
      kernels[relocation.r_offset] = text.substr(kText.size());
    }
  }
  return kernels;
}

std::string_view section_named(const ElfObject& cubin, std::string_view name) {
  const auto found = std::find_if(cubin.sections().begin(), cubin.sections().end(),
                                  [&](const Elf64_Shdr& header) { return cubin.name(header) == name; });
  return found == cubin.sections().end() ? std::string_view() : cubin.contents(*found);
}

std::map<std::string, std::vector<LineTable::Row>> read_rows(const ElfObject& cubin) {
  std::map<std::string, std::vector<LineTable::Row>> rows;
  const std::string_view names = section_named(cubin, ".debug_str");
  for (std::size_t i = 0; i < cubin.sections().size(); ++i) {
    if (cubin.name(cubin.section(i)) != ".debug_line") {
      continue;
    }
    const std::map<std::size_t, std::string> kernels = kernels_by_place(cubin, i);
    const auto kernel_at = [&](std::size_t place) {
      const auto found = kernels.find(place);
      return found == kernels.end() ? std::string() : found->second;
    };
    SectionReader section(cubin.contents(cubin.section(i)));
    while (!section.at_end()) {
      const auto length = section.fixed<std::uint32_t>();
      const std::size_t begin = section.position();
      SectionReader program(section.take(length));
      LineProgramHeader header = read_header(program);
      LineProgram(std::move(header), names)
          .run(program, begin, kernel_at, [&](const std::string& kernel, std::vector<LineTable::Row> of_kernel) {
            rows[kernel] = std::move(of_kernel);
          });
    }
  }
  return rows;
}

}  // namespace

LineTable::LineTable(std::string_view cubin) {
  try {
    rows_ = read_rows(ElfObject(cubin, ET_EXEC));
  } catch (const std::exception&) {
    rows_.clear();  // damaged: a profile without lines is a profile still
  }
  for (const auto& [kernel, rows] : rows_) {
    std::map<std::string, std::set<int>> lines;
    for (const Row& row : rows) {
      lines[row.function].insert(row.line);
    }
    for (const auto& [function, of_function] : lines) {
      lines_of_[kernel][function] = static_cast<int>(of_function.size());
    }
  }
}

SourcePlace LineTable::place(const std::string& kernel, std::uint64_t pc_offset) const {
  const auto found = rows_.find(kernel);
  if (found == rows_.end()) {
    return {};
  }
  const std::vector<Row>& rows = found->second;
  const auto behind = std::upper_bound(rows.begin(), rows.end(), pc_offset,
                                       [](std::uint64_t offset, const Row& row) { return offset < row.address; });
  if (behind == rows.begin()) {
    return {};
  }
  SourcePlace place;
  // A caller's row stands before the rows that were inlined for it.
  const Row* row = &*std::prev(behind);
  const auto is_short = [&] { return lines_of_.at(kernel).at(row->function) <= kShortFunction; };
  while (row->caller > 0 && row->caller <= static_cast<std::size_t>(row - rows.data()) && is_short()) {
    place.inlined = fmt::format("{} ({}:{}){}{}", function_name(row->function), row->file, row->line,
                                place.inlined.empty() ? "" : " > ", place.inlined);
    row = &rows[row->caller - 1];
  }
  place.file = row->file;
  place.line = row->line;
  return place;
}

}  // namespace apo
