// harness/worker/cuda/addresses.cpp - reads a cubin's symbols; writes addresses as the driver wants them.
#include "harness/worker/cuda/addresses.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/elf_object.h"

namespace apo {

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

bool is_whole_cubin(std::string_view image) {
  try {
    const ElfObject cubin(image, ET_EXEC);
    std::ranges::for_each(cubin.sections(), [&](const Elf64_Shdr& header) { cubin.contents(header); });
    return true;
  } catch (const EnvironmentError&) {
    return false;
  }
}

std::string device_model(const cuda::Driver& driver) {
  cuda::Device device = 0;
  std::array<char, 256> name{};
  const bool is_known = driver.current_device(&device) == cuda::kSuccess &&
                        driver.device_name(name.data(), static_cast<int>(name.size()) - 1, device) == cuda::kSuccess;
  return is_known ? name.data() : "";
}

bool is_captured(const cuda::Driver& driver, cuda::Stream stream) {
  int status = 0;
  return driver.is_capturing != nullptr && driver.is_capturing(stream, &status) == cuda::kSuccess && status != 0;
}

// A tensor map has the address in a form of the driver's own.
cuda::Result put_address(const cuda::Driver& driver, std::string& parameters, const RecordedPlace& place,
                         std::uint64_t address) {
  char* const at = parameters.data() + place.parameter;
  if (!place.in_map) {
    std::memcpy(at, &address, sizeof address);
    return cuda::kSuccess;
  }
  constexpr std::size_t kMapBytes = 128;
  struct alignas(64) Map {
    std::array<char, kMapBytes> bytes;
  } map;
  std::memcpy(map.bytes.data(), at, kMapBytes);
  const cuda::Result error = driver.replace_map_address == nullptr
                                 ? cuda::kNotSupported
                                 : driver.replace_map_address(&map, reinterpret_cast<void*>(address));
  std::memcpy(at, map.bytes.data(), kMapBytes);
  return error;
}

}  // namespace apo
