// harness/worker/cuda/variables.cpp - finds variables by the cubin's symbols and keeps one copy of them on the GPU.
#include "harness/worker/cuda/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/elf_object.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::size_t kLongestVariable = std::size_t{16} << 20;  // copying more takes longer than loading a module

}  // namespace

std::vector<CudaVariable> variables_in(std::string_view image) {
  const ElfObject cubin(image, ET_EXEC);
  std::vector<CudaVariable> found;
  for (std::size_t i = 0; i < cubin.symbol_count(); ++i) {
    const Elf64_Sym symbol = cubin.symbol(i);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= cubin.sections().size() ||
        symbol.st_shndx == SHN_UNDEF) {
      continue;
    }
    const std::string section = cubin.name(cubin.section(symbol.st_shndx));
    if (section.starts_with(".nv.global") || section == ".nv.constant3") {
      found.push_back({.name = cubin.name(symbol), .section = symbol.st_shndx, .offset = symbol.st_value});
    }
  }
  std::ranges::sort(found, {}, [](const CudaVariable& one) { return std::pair(one.section, one.offset); });
  return found;
}

bool CudaVariables::worked(const cuda::Driver& driver, cuda::Result result, const std::string& what) {
  if (result != cuda::kSuccess) {
    why_not_ = what + ": " + cuda::describe(driver, result);
  }
  return result == cuda::kSuccess;
}

// Variables of one section that lie as far apart as there are copied as one. Memory between two sections may be
// nobody's.
bool CudaVariables::find(const cuda::Driver& driver, cuda::Module module, std::string_view image) {
  std::size_t total = 0;
  for (const CudaVariable& one : variables_in(image)) {
    Range range{.section = one.section, .offset = one.offset};
    if (!worked(driver, driver.get_global(&range.at, &range.bytes, module, one.name.c_str()), one.name)) {
      return false;
    }
    Range* const last = ranges_.empty() ? nullptr : &ranges_.back();
    if (last != nullptr && last->section == one.section && range.at - last->at == one.offset - last->offset) {
      const std::size_t end = std::max<std::size_t>(last->bytes, one.offset - last->offset + range.bytes);
      total += end - last->bytes;
      last->bytes = end;
    } else {
      range.kept_at = total;
      total += range.bytes;
      ranges_.push_back(range);
    }
  }
  if (total > kLongestVariable) {
    why_not_ = "they have " + format_bytes(static_cast<double>(total));
    return false;
  }
  return total == 0 || worked(driver, driver.allocate(&kept_, total), "memory for a copy");
}

bool CudaVariables::keep(const cuda::Driver& driver, cuda::Module module, std::string_view image) {
  forget(driver);
  why_not_.clear();
  bool kept = false;
  try {
    kept = find(driver, module, image);
  } catch (const EnvironmentError& error) {
    why_not_ = error.what();  // not a cubin, but PTX that the driver compiled
  }
  // By way of the host: to initcheck of compute-sanitizer what was copied from constants on the GPU was never written.
  std::vector<char> values(ranges_.empty() ? 0 : ranges_.back().kept_at + ranges_.back().bytes);
  for (const Range& range : ranges_) {
    kept = kept && worked(driver, driver.copy_to_host(values.data() + range.kept_at, range.at, range.bytes),
                          fmt::format("reading {} bytes", range.bytes));
  }
  kept = kept && (values.empty() ||
                  worked(driver, driver.copy_to_device(kept_, values.data(), values.size()), "writing the copy"));
  if (!kept) {
    forget(driver);
  }
  return kept;
}

cuda::Result CudaVariables::restore(const cuda::Driver& driver, cuda::Stream stream) const {
  for (const Range& range : ranges_) {
    if (const auto error = driver.copy_on_device(range.at, kept_ + range.kept_at, range.bytes, stream);
        error != cuda::kSuccess) {
      return error;
    }
  }
  return cuda::kSuccess;
}

void CudaVariables::forget(const cuda::Driver& driver) {
  if (kept_ != 0) {
    driver.free(kept_);  // fails only after a sticky error, which the next call reports
  }
  kept_ = 0;
  ranges_.clear();
}

}  // namespace apo
