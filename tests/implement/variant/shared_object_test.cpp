// tests/implement/variant/shared_object_test.cpp - which shared objects are variants, and what is wrong with others.
#include "harness/implement/variant/shared_object.h"

#include <elf.h>

#include "tests/implement/ffi_objects.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;

class SharedObject : public ::testing::Test {
 protected:
  std::string built(const std::string& code, const std::vector<std::string>& flags = {"-shared"}) const {
    return read_file(ffi_object(folder_.path() / "built", code, flags));
  }
  // What load_variant() says of such a file.
  std::string refusal(const std::string& bytes) const {
    const auto path = write(folder_.path() / "kernel.so", bytes);
    return error_of([&] { load_variant(path.string(), {}, "copy"); });
  }
  TemporaryFolder folder_;
};

TEST_F(SharedObject, IsAVariantWithABlockWrittenForItAndItsBytesAsAFile) {
  const auto path = ffi_object(folder_.path() / "fast.so", kFfiCopy);
  const Variant variant = load_variant(path.string(), {}, "copy");
  EXPECT_EQ(variant.id(), "copy/fast");
  EXPECT_EQ(variant.target, Target::host);
  EXPECT_EQ(variant.source, "// apo:variant copy/fast\n// apo:target host\n// apo:ffi fast.so copy\n");
  EXPECT_EQ(object_of(variant).text, read_file(path));
  const Variant again = parse_variant(variant.source, "journal", variant.headers);
  EXPECT_EQ(again.source_hash, variant.source_hash);
  EXPECT_EQ(again.function, "copy");
}

TEST_F(SharedObject, ThatNeedsCudaIsForTheGpu) {
  ffi_object(folder_.path() / "libcudart.so", "", {"-shared", "-Wl,-soname,libcudart.so.13"});
  const auto path = ffi_object(folder_.path() / "gpu.so", kFfiCopy,
                               {"-shared", "-Wl,--no-as-needed", "-L" + folder_.path().string(), "-lcudart"});
  EXPECT_EQ(load_variant(path.string(), {}, "copy").target, Target::cuda);
  const std::string code = std::string("__attribute__((section(\".nv_fatbin\"))) int kernels[4] = {1};\n") + kFfiCopy;
  EXPECT_EQ(load_variant(ffi_object(folder_.path() / "gpu2.so", code).string(), {}, "copy").target, Target::cuda);
}

TEST_F(SharedObject, TakesTheOnlyFunctionOrTheOneOfTheFamilysName) {
  const auto function = [&](const std::string& code) { return ffi_function(built(code), "k.so", "", "copy"); };
  EXPECT_EQ(function("EXPORT(other) { return n; }"), "other");
  EXPECT_EQ(function("EXPORT(other) { return n; } EXPORT(copy) { return n; } EXPORT(_metadata_copy) { return n; }"),
            "copy");
  expect_contains(refusal(built("EXPORT(one) { return n; } EXPORT(two) { return n; }")),
                  "exports more than one function: one, two | choose one: register a .cpp file (.cu for a GPU) beside "
                  "it with the line '// apo:ffi kernel.so one'");
}

TEST_F(SharedObject, WithoutAFunctionOrOfAnotherKindIsRefusedWithItsFault) {
  const std::string right = built(kFfiCopy);
  std::string other_machine = right;
  other_machine[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_RISCV);
  expect_contains(refusal("a text"), "kernel.so' is no shared object: it does not begin as an ELF file");
  expect_contains(refusal(""), "it does not begin as an ELF file");
  expect_contains(refusal(right.substr(0, 20)), "is not a whole shared object");
  expect_contains(refusal(other_machine), "is for another machine (ELF class 2, machine 243)");
  expect_contains(refusal(right.substr(0, right.size() / 2)), "is not a whole shared object");
  expect_contains(refusal(built("int main() {}", {"-no-pie"})), "is no shared object but a program");
  expect_contains(refusal(built("int main() {}", {"-pie"})), "exports no function of the TVM-FFI ABI");
  expect_contains(refusal(built(kFfiCopy, {"-c"})), "is no shared object but an object that is not linked yet");
  expect_contains(refusal(built("extern \"C\" int copy() { return 0; }")), "exports no function of the TVM-FFI ABI");
  for (std::size_t cut = 64; cut < right.size(); cut += 997) {
    EXPECT_FALSE(refusal(right.substr(0, cut)).empty()) << cut;
  }
}

TEST_F(SharedObject, BesideAFileOfMetadataIsCalledAsItsLineSays) {
  ffi_object(folder_.path() / "k.so", std::string("EXPORT(other) { return n; }\n") + kFfiCopy);
  const auto load = [&](const std::string& lines) {
    return load_variant(write(folder_.path() / "mine.cpp", lines).string(), {}, "copy");
  };
  EXPECT_EQ(load("// apo:idea by hand\n// apo:ffi k.so other\n").function, "other");
  EXPECT_EQ(load("// apo:ffi k.so\n").function, "copy");
  const auto refused = [&](const std::string& lines) { return error_of([&] { load(lines); }); };
  expect_contains(refused("// apo:ffi none.so\n"), "there is no object 'none.so' beside the file");
  expect_contains(refused("// apo:ffi ../k.so\n"), "is not a shared object beside the file");
  expect_contains(refused("// apo:ffi k.so third\n"), "exports no __tvm_ffi_third | it exports copy, other");
  expect_contains(refused("// apo:ffi k.so\n// apo:tune A 1,2\n"), "mine.cpp:2: an apo:ffi line excludes this one");
  expect_contains(refused("// apo:ffi k.so\n// apo:scratch a 8*n\n"), "mine.cpp:2: an apo:ffi line excludes this one");
}

TEST_F(SharedObject, ThatTheJournalLostIsNoReasonToCrash) {
  expect_contains(error_of([] { parse_variant("// apo:variant copy/x\n// apo:ffi x.so\n", "journal"); }),
                  "the object 'x.so' is not among the files of copy/x");
}

}  // namespace
}  // namespace apo
