// tests/implement/object/compiler_names_test.cpp - what tells the executor's compiler from a GPU's is found by name.
#include "harness/implement/object/compiler_names.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

TEST(CompilerNames, AreFoundWhereverTheyStand) {
  const std::pair<const char*, const char*> sources[] = {
      {"#ifdef __APO_CPU__\n", "__APO_CPU__"},
      {"#if defined(__CUDA_ARCH__) && !defined(__NVCC__)\n", "__NVCC__"},
      {"int x = __VERSION__[0];\n", "__VERSION__"},
      {"  #  elifdef threadIdx\n", "threadIdx"},
      {"%:ifdef __INT_MAX__\n", "__INT_MAX__"},
      {"#if \\\n__x86_64__\n", "__x86_64__"},
      {"#if __has_include(<hooks.h>)\n", "__has_include"},
      {"#ifndef __linux__\nint x;\n#endif\n", "__linux__"},
      {"#ifndef __linux__\n#define ANOTHER\n#endif\n", "__linux__"},
      {"wchar_t c = L'/*';\n#ifdef __LP64__\n", "__LP64__"},
      {"int n = 1'000;\n#ifdef __LP64__ // '\n", "__LP64__"},
      {"auto s = R\"(/*)\";\n", "raw_string_literal"},
  };
  for (const auto& [source, name] : sources) {
    EXPECT_EQ(asks_for_compiler(source), name) << source;
  }
}

TEST(CompilerNames, OfTheSourceItselfAndOfTheArchitectureAreItsOwn) {
  for (const char* source : {"#ifndef __TILES_CUH__\n#define __TILES_CUH__\n#endif\n", "#if __CUDA_ARCH__ >= 900\n",
                             "#ifdef __CUDACC__\n#endif\n", "#ifndef WARP\n#define WARP 32\n#endif\n#if WARP == 32\n",
                             "// __GNUC__\n/* #ifdef\n__GNUC__ */ const char* s = \"__GNUC__\";\n",
                             "#ifndef M_PI\n#define M_PI 3.14159265358979323846\n#endif\n", "#pragma once\n",
                             "#if __CUDACC_VER_MAJOR__ < 12\n#endif\n", "f(__FILE__);\n"}) {
    EXPECT_EQ(asks_for_compiler(source), "") << source;
  }
}

}  // namespace
}  // namespace apo
