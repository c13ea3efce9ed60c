// harness/worker/cuda_variables.cpp - names from the cubin's symbols, places from the driver, one copy on the GPU.
#include "harness/worker/cuda_variables.h"

#include <algorithm>

#include "harness/core/elf_object.h"

namespace apo {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // copying more takes longer than loading a module
constexpr std::size_t kMostGap = 256;                      // between two variables that are copied as one

}  // namespace

std::vector<std::string> variables_in(std::string_view image) {
  const ElfObject cubin(image, ET_EXEC);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < cubin.symbol_count(); ++i) {
    const Elf64_Sym symbol = cubin.symbol(i);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= cubin.sections().size() ||
        symbol.st_shndx == SHN_UNDEF) {
      continue;
    }
    const std::string section = cubin.name(cubin.section(symbol.st_shndx));
    if (section.starts_with(".nv.global") || section == ".nv.constant3") {
      names.push_back(cubin.name(symbol));
    }
  }
  return names;
}

bool CudaVariables::find(const cuda::Driver& driver, cuda::Module module, std::string_view image) {
  std::vector<Range> found;
  for (const std::string& name : variables_in(image)) {
    Range range;
    if (driver.get_global(&range.at, &range.bytes, module, name.c_str()) != cuda::kSuccess) {
      return false;
    }
    found.push_back(range);
  }
  std::ranges::sort(found, {}, &Range::at);
  std::size_t total = 0;
  for (const Range& range : found) {
    const bool joined = !ranges_.empty() && range.at <= ranges_.back().at + ranges_.back().bytes + kMostGap;
    if (joined) {
      Range& last = ranges_.back();
      const std::size_t end = std::max<std::size_t>(last.at + last.bytes, range.at + range.bytes);
      total += end - (last.at + last.bytes);
      last.bytes = end - last.at;
    } else {
      ranges_.push_back({.at = range.at, .bytes = range.bytes, .kept_at = total});
      total += range.bytes;
    }
  }
  return total <= kMostBytes && (total == 0 || driver.allocate(&kept_, total) == cuda::kSuccess);
}

bool CudaVariables::keep(const cuda::Driver& driver, cuda::Module module, std::string_view image, cuda::Stream stream) {
  forget(driver);
  bool kept = false;
  try {
    kept = find(driver, module, image);
  } catch (const EnvironmentError&) {
    kept = false;  // not a cubin, but PTX that the driver compiled
  }
  for (const Range& range : ranges_) {
    kept = kept && driver.copy_on_device(kept_ + range.kept_at, range.at, range.bytes, stream) == cuda::kSuccess;
  }
  kept = kept && driver.synchronize(stream) == cuda::kSuccess;
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
