// data/corpus.cpp - reads documents and splits them.
#include "data/corpus.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <sstream>

#include "data/error.h"
#include "data/read_file.h"
#include "model/random.h"

namespace byte_lm {
namespace fs = std::filesystem;
namespace {

bool is_text(const fs::path& path) {
  static const std::set<std::string> extensions = {".c",  ".cc",  ".cpp", ".cu",   ".cuh", ".h",   ".hpp", ".inl",
                                                   ".md", ".txt", ".py",  ".json", ".sh",  ".sql", ".in",  ".cmake"};
  return extensions.contains(path.extension().string());
}

// Without what a build or version control leaves.
bool is_hidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(".") || name.starts_with("build");
}

std::vector<fs::path> text_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::recursive_directory_iterator(); ++entry) {
    if (is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file() && is_text(entry->path())) {
      files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void add_documents(const std::string& text, std::vector<std::string>& documents) {
  std::istringstream stream(text);
  for (std::string document; std::getline(stream, document, static_cast<char>(kSeparator));) {
    if (!document.empty()) {
      documents.push_back(std::move(document));
    }
  }
}

std::array<double, 256> byte_counts(std::string_view stream) {
  std::array<double, 256> counts = {};
  for (const char byte : stream) {
    ++counts[static_cast<unsigned char>(byte)];
  }
  return counts;
}

}  // namespace

std::uint64_t Corpus::hash() const {
  return mix(hash_of(train) + 3 * hash_of(held_out));
}

std::vector<std::string> read_documents(const std::vector<fs::path>& paths) {
  std::vector<std::string> documents;
  for (const fs::path& path : paths) {
    for (const fs::path& file : fs::is_directory(path) ? text_files(path) : std::vector<fs::path>{path}) {
      add_documents(read_file(file), documents);
    }
  }
  return documents;
}

bool is_held_out(std::string_view document) {
  return hash_of(document) % 10 == 0;
}

Corpus split(const std::vector<std::string>& documents) {
  Corpus corpus;
  for (const std::string& document : documents) {
    const bool held_out = is_held_out(document);
    (held_out ? corpus.held_out : corpus.train) += static_cast<char>(kSeparator) + document;
    ++(held_out ? corpus.held_out_documents : corpus.train_documents);
  }
  if (corpus.train.empty() || corpus.held_out.empty()) {
    throw UserError("of " + std::to_string(documents.size()) + " documents none is " +
                        (corpus.train.empty() ? "to train on" : "held out"),
                    "give more files, or separate documents in a file with the byte 0x1e");
  }
  corpus.train += static_cast<char>(kSeparator);
  corpus.held_out += static_cast<char>(kSeparator);
  return corpus;
}

std::int64_t scored_bytes(std::string_view stream) {
  return static_cast<std::int64_t>(stream.size()) -
         std::count(stream.begin(), stream.end(), static_cast<char>(kSeparator));
}

double byte_frequency_loss(const Corpus& corpus) {
  std::array<double, 256> train = byte_counts(corpus.train), held_out = byte_counts(corpus.held_out);
  train[kSeparator] = held_out[kSeparator] = 0;
  const auto bytes = static_cast<double>(scored_bytes(corpus.train));
  double loss = 0;
  for (std::size_t byte = 0; byte < train.size(); ++byte) {
    loss -= held_out[byte] * std::log((train[byte] + 1) / (bytes + 256));  // Laplace: no byte is impossible
  }
  return loss / static_cast<double>(scored_bytes(corpus.held_out));
}

}  // namespace byte_lm
