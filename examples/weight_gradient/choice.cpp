// choice.cpp - asks an exported dispatch which kernel serves one size: its folder, its file, and the flags that it
// needs.
#include <cstdio>

#include "size.h"

int main() {
  const table::Choice& choice = table::choose(kSize);  // throws where no row serves the size
  std::printf("%s %s", choice.source_folder.data(), choice.source_file.data());
  for (const table::Value& constant : choice.plan(kSize, table::kDevices[0]).constants) {
    std::printf(" -DAPO_%s=%lld", constant.name.data(), static_cast<long long>(constant.value));
  }
  std::printf("\n");
}
