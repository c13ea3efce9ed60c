// harness/profile/host/vector_code.cpp - finds loops by their jumps back, and arithmetic by the names of instructions.
#include "harness/profile/host/vector_code.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/system/process.h"

namespace apo {
namespace {

enum class FloatKind : std::uint8_t { none, scalar, vector };

struct ListedInstruction {
  std::uint64_t address = 0;
  FloatKind kind = FloatKind::none;
  std::optional<std::uint64_t> jumps_to;  // of a conditional jump
};

bool starts_with_one_of(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

// Matches "vfmadd231ps" and "addsd" of x86-64; AArch64 distinguishes them by their registers, not by name.
FloatKind kind_of(std::string_view name, std::string_view operands) {
  if (name.starts_with('f') && starts_with_one_of(name.substr(1), {"add", "sub", "mul", "div", "ml", "max", "min",
                                                                   "sqrt", "madd", "msub", "nmadd", "nmsub"})) {
    const bool x86 = operands.find('%') != std::string_view::npos;  // of its old stack of registers
    return x86 ? FloatKind::none : starts_with_one_of(operands, {"v", "z"}) ? FloatKind::vector : FloatKind::scalar;
  }
  name.remove_prefix(name.starts_with('v') ? 1 : 0);
  if (!starts_with_one_of(name,
                          {"add", "sub", "mul", "div", "max", "min", "sqrt", "fmadd", "fmsub", "fnmadd", "fnmsub"})) {
    return FloatKind::none;
  }
  return name.ends_with("ps") || name.ends_with("pd")   ? FloatKind::vector
         : name.ends_with("ss") || name.ends_with("sd") ? FloatKind::scalar
                                                        : FloatKind::none;
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

// "jne 1180 <f+0x40>", "b.ne 730 <f+0x10>", "cbnz x0, 730 <f+0x10>".
std::optional<std::uint64_t> target_of_jump(std::string_view name, std::string_view operands) {
  const bool conditional = (name.starts_with('j') && name != "jmp") || starts_with_one_of(name, {"b.", "cb", "tb"});
  const std::size_t symbol = operands.find(" <");
  if (!conditional || symbol == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view before = operands.substr(0, symbol);
  const std::size_t separator = before.find_last_of(" ,");
  return hexadecimal(separator == std::string_view::npos ? before : before.substr(separator + 1));
}

// "    1139:\tvaddps %ymm0,%ymm1,%ymm2"
std::optional<ListedInstruction> parse_line(std::string_view line) {
  const std::size_t colon = line.find(":\t");
  const auto address = colon == std::string_view::npos ? std::nullopt : hexadecimal(line.substr(0, colon));
  if (!address) {
    return std::nullopt;
  }
  const std::string_view text = line.substr(colon + 2);
  const std::string_view name = text.substr(0, text.find_first_of(" \t"));
  std::string_view operands = text.substr(name.size());
  operands.remove_prefix(std::min(operands.find_first_not_of(" \t"), operands.size()));
  return ListedInstruction{
      .address = *address, .kind = kind_of(name, operands), .jumps_to = target_of_jump(name, operands)};
}

}  // namespace

FloatInstructions count_float_instructions(std::string_view listing) {
  std::vector<ListedInstruction> code;
  while (!listing.empty()) {
    const std::size_t end = std::min(listing.find('\n'), listing.size() - 1);
    if (const auto instruction = parse_line(listing.substr(0, end))) {
      code.push_back(*instruction);
    }
    listing.remove_prefix(end + 1);
  }
  FloatInstructions counted;
  std::uint64_t last_loop = 0;  // where the loop that ended last began: one round it is not an innermost one
  for (auto jump = code.begin(); jump != code.end(); ++jump) {
    if (!jump->jumps_to || *jump->jumps_to > jump->address) {
      continue;
    }
    const bool innermost = *jump->jumps_to > last_loop;
    last_loop = std::max(last_loop, *jump->jumps_to);
    for (auto one = jump; innermost && one->address >= *jump->jumps_to; --one) {
      counted.vector += one->kind == FloatKind::vector ? 1 : 0;
      counted.scalar += one->kind == FloatKind::scalar ? 1 : 0;
      if (one == code.begin()) {
        break;
      }
    }
  }
  return counted;
}

double vector_share(const std::filesystem::path& library) {
  const auto objdump = find_program("objdump");
  if (!objdump) {
    return std::nan("");
  }
  const ProcessResult listed = run_process({*objdump, "-d", "--no-show-raw-insn", library.string()});
  const FloatInstructions counted = count_float_instructions(listed.ok() ? listed.output : "");
  return static_cast<double>(counted.vector) / static_cast<double>(counted.vector + counted.scalar);
}

}  // namespace apo
