// tests/implement/object/ptx_test.cpp - inline PTX becomes calls, line by line; what has no equivalent says so.
#include "harness/implement/object/ptx.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

TEST(Ptx, KnownInstructionBecomesACallWithItsOperands) {
  EXPECT_EQ(for_host_compiler(R"(asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x * (a ? b : c)));)"),
            "::apo_cpu::ptx::tanh_approx(y, x * (a ? b : c));");
}

TEST(Ptx, NumbersInTheTextBecomeTemplateArguments) {
  EXPECT_EQ(for_host_compiler(R"(asm volatile("bar.sync %0, 64;" ::"r"(id + 1) : "memory");)"),
            "::apo_cpu::ptx::bar_sync_of<64>(id + 1);");
  EXPECT_EQ(for_host_compiler(R"(asm volatile("cp.async.wait_group 2;" ::: "memory");)"),
            "::apo_cpu::ptx::cp_async_wait_for<2>();");
  EXPECT_EQ(for_host_compiler(R"(asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];")"
                              R"( : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(row));)"),
            "::apo_cpu::ptx::ldmatrix_x4<true>(b[0], b[1], b[2], b[3], row);");
}

TEST(Ptx, TextInPiecesAndOnSeveralLinesKeepsItsLines) {
  EXPECT_EQ(for_host_compiler("asm(\"tanh.approx.f32 \"\n  \"%0,  %1;\"\n  : \"=f\"(y)\n  : \"f\"(x));\nnext();"),
            "::apo_cpu::ptx::tanh_approx(y, x)\n\n\n;\nnext();");
}

TEST(Ptx, UnknownInstructionFailsTheBuildByName) {
  const std::string unknown = for_host_compiler(R"(asm("mov.u32 %0, %smid;" : "=r"(s));)");
  EXPECT_TRUE(unknown.starts_with("[] { [[gnu::error(\"not checkable on the CPU: PTX mov.u32 %0, %smid;\")]] void "));
  EXPECT_NE(for_host_compiler(R"(asm("bar.sync %0, 6x4;" :: "r"(1));)").find("gnu::error"), std::string::npos);
}

TEST(Ptx, CommentsLiteralsAndOtherNamesAreLeftAlone) {
  for (const char* text : {"// asm(\"x\")\n", "/* asm(\"x\"); */", "\"asm(\\\"x\\\")\"", "int asmx = plasm(1);",
                           "const int n = 1'000; char c = '\"'; f(asm_); ", "asm"}) {
    EXPECT_EQ(for_host_compiler(text), text);
  }
}

TEST(Launch, BecomesACallThatTakesTheArguments) {
  EXPECT_EQ(for_host_compiler("  a::add<float, 4> <<<grid_of(n, 2), 128>>>(x, y);"),
            "  ::apo_cpu::launch(\"a::add<float, 4>\", [=](auto... apo_cpu_all) { a::add<float, 4>(apo_cpu_all...); }, "
            "grid_of(n, 2), 128)(x, y);");
  EXPECT_EQ(for_host_compiler("// k<<<1, 2>>>(x);\n"), "// k<<<1, 2>>>(x);\n");
  EXPECT_NE(for_host_compiler("k<<<1").find("apo_cpu::launch"), std::string::npos);
}

TEST(Launch, ByAFunctionNamesTheKernel) {
  constexpr const char* kNamed = "::apo_cpu::launch_by_name(\"a::k<2, 4>\", a::k<2, 4>, true, g, b, args)";
  for (const std::string kernel :
       {"a::k<2, 4>", "(void*)a::k<2, 4>", "(const void *) &a::k<2, 4>", "(void const*)a::k<2, 4>",
        "reinterpret_cast<const void*>(a::k<2, 4>)", "reinterpret_cast< void * >(&a::k<2, 4>)"}) {
    EXPECT_EQ(for_host_compiler("cudaLaunchCooperativeKernel(" + kernel + ", g, b, args)"), kNamed) << kernel;
  }
  EXPECT_EQ(for_host_compiler("cudaLaunchKernel(k, 1, 2, args)"),
            "::apo_cpu::launch_by_name(\"k\", k, false, 1, 2, args)");
  EXPECT_EQ(for_host_compiler("cudaLaunchKernel(table[0], 1)"), "cudaLaunchKernel(table[0], 1)");
}

TEST(Launch, SizesOfHostCodeAreNotThoseOfAKernel) {
  EXPECT_EQ(for_host_compiler("void f() { dim3 gridDim(n / blockDim.x), blockDim(2); g(gridDim, blockDim, NULL); }\n"
                              "__global__ void k() { dim3 own(gridDim.x, blockDim.x); }"),
            "void f() { dim3 apo_cpu_gridDim(n / blockDim.x), apo_cpu_blockDim(2); "
            "g(apo_cpu_gridDim, apo_cpu_blockDim, nullptr); }\n"
            "__global__ void k() { dim3 own(gridDim.x, blockDim.x); }");
}

TEST(Ptx, UnfinishedStatementEndsWithTheSource) {
  EXPECT_NE(for_host_compiler("asm(\"tanh.approx.f32 %0").find("gnu::error"), std::string::npos);
  EXPECT_EQ(for_host_compiler("asm volatile"), "asm volatile");
}

}  // namespace
}  // namespace apo
