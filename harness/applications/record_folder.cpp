// harness/applications/record_folder.cpp - whole or not at all, also where two processes keep the same record.
#include "harness/applications/record_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <span>
#include <system_error>
#include <vector>

#include "harness/core/hash.h"
#include "harness/core/npy.h"
#include "harness/core/system/files.h"
#include "kernels/encode.h"

namespace apo {

namespace fs = std::filesystem;

fs::path keep_record(const RecordedFamily& family, const std::string& call, const fs::path& records) {
  std::string content = family.name + "\n" + call;
  std::vector<NamedText> files = {{.path = kRecordedOperations, .contents = call}};
  for (const RecordedTensor& tensor : family.tensors) {
    const std::vector<double> values =
        decode(tensor.dtype, std::as_bytes(std::span(tensor.bytes.data(), tensor.bytes.size())));
    files.push_back({.path = tensor.name + ".npy", .contents = npy_text({tensor.elements}, values, tensor.dtype)});
    content += tensor.name + tensor.bytes;
  }
  const fs::path folder = fs::absolute(records / sha256(content).substr(0, 16));
  files.push_back({.path = kRecordedFamily,
                   .contents = family_text(family, executable_path().string() + " record --answer", folder)});
  if (!fs::exists(folder)) {
    fs::create_directories(records);
    const fs::path partial = folder.string() + fmt::format(".{}.partial", getpid());
    fs::create_directories(partial);
    for (const NamedText& file : files) {
      write_file_atomically(partial / file.path, file.contents);
    }
    std::error_code error;
    fs::rename(partial, folder, error);  // another one was faster: it has the same content
    if (error) {
      fs::remove_all(partial);
    }
  }
  return folder;
}

}  // namespace apo
