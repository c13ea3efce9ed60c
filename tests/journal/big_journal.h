// tests/journal/big_journal.h - a journal of very many experiments, made fast, for the benchmarks.
#pragma once

#include <cstdint>
#include <filesystem>

namespace apo::test {

// One campaign of a hundred experiments written by the product's own functions, then copied with SQL until there are
// `experiments`, with other families, classes, techniques, times and effects. The rows are as wide as real ones; every
// experiment has one round, where real ones have tens.
void make_big_journal(const std::filesystem::path& path, std::int64_t experiments);

}  // namespace apo::test
