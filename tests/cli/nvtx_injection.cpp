// tests/cli/nvtx_injection.cpp - the smallest NVTX tool: writes "+domain:name" and "-" to the file NVTX_RANGES_FILE.
#include <nvtx3/nvToolsExt.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// The one domain of the program under test, by name; its handle is the address of this.
std::string domain_name;

void write_line(const std::string& line) {
  if (std::FILE* file = std::fopen(std::getenv("NVTX_RANGES_FILE"), "a"); file != nullptr) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
}

nvtxDomainHandle_t create_domain(const char* name) {
  domain_name = name;
  return reinterpret_cast<nvtxDomainHandle_t>(&domain_name);
}

int push_range(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const auto* name = reinterpret_cast<const std::string*>(domain);
  write_line("+" + (name == nullptr ? "" : *name) + ":" + attributes->message.ascii);
  return 0;
}

int pop_range(nvtxDomainHandle_t) {
  write_line("-");
  return 0;
}

template <class Function>
void install(NvtxFunctionTable table, unsigned which, Function function) {
  *table[which] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t tables) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0 ||
      size <= NVTX_CBID_CORE2_DomainCreateA) {
    return 0;
  }
  install(table, NVTX_CBID_CORE2_DomainCreateA, create_domain);
  install(table, NVTX_CBID_CORE2_DomainRangePushEx, push_range);
  install(table, NVTX_CBID_CORE2_DomainRangePop, pop_range);
  return 1;
}
