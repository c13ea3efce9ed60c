# tests/cli/bring/register_test.py - what may join the catalogue, what may not, and that a refusal changes nothing.
import os
import unittest

from apo_test import COPY_HEAD, HAS_GPU, CommandTest, main, read_file, replaced, source_path, variant

BARE = COPY_HEAD + " while (n-- > 0) y[n] = x[n]; }\n"
GATES = ("metadata: valid", "build: valid", "correctness: valid", "sanitizers: valid")
HALVES = ("// apo:family halves\n// apo:axis n 1..8\n// apo:input x f32[n]\n// apo:output y f32[n]\n"
          "// apo:workload w ragged n=3\ntemplate <class Real>\nvoid reference(int64_t n, const Real* x, Real* y) {\n"
          "  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / 2;\n}\n")


class RegisterTest(CommandTest):
    def register(self, name, text, *more, code=0):
        self.place.write(name, text)
        return self.apo("register", name, *more, code=code)

    def lists(self, id):
        [family] = self.json("list", id.split("/")[0])["families"]
        return id in [variant["id"] for variant in family["variants"]]

    def nothing_kept(self):
        self.assertFalse(self.place.exists(".apo/variants"))
        self.assertFalse(self.place.exists(".apo/journal.db"))

    def of_the_journal(self, id):
        """What the journal alone has of a variant, without its file."""
        self.apo("register", "--retire", id)
        return self.json("show", id, "--source")


class Register(RegisterTest):
    def test_a_right_variant_is_verified_listed_and_remembered(self):
        self.said(self.register("mine.cpp", variant("mine")).out, *GATES)
        self.assertTrue(self.lists("copy/mine"))
        self.assertEqual(self.place.read(".apo/variants/copy/mine.cpp"), variant("mine"))
        again = self.apo("register", "mine.cpp", "--json").document
        self.assertEqual(again["state"], "already registered")
        self.assertEqual(self.of_the_journal("copy/mine")["source"], variant("mine"))

    def test_changed_content_is_a_new_version_and_one_that_fails_a_gate_leaves_the_one_before(self):
        changed = variant("mine") + "// changed\n"
        self.register("mine.cpp", variant("mine"), "--no-verify")
        self.said(self.register("mine.cpp", changed, "--no-verify").out, "copy/mine@2 registered: ")
        self.register("mine.cpp", variant("mine", "y[i] = x[i]", "y[i] = none"), code=3)
        self.assertEqual(self.place.read(".apo/variants/copy/mine.cpp"), changed)
        self.assertEqual(self.of_the_journal("copy/mine")["source"], changed)
        again = self.register("mine.cpp", variant("mine"), "--no-verify")
        self.said(again.out, "copy/mine registered: ")  # not as @3: the other text is kept

    def test_notes_name_unknown_techniques_and_the_first_that_was_registered_stays_the_baseline(self):
        self.register("halves.h", HALVES, "--no-verify")

        def added(name):
            return self.register(name + ".cpp", f"// apo:variant halves/{name}\n// apo:technique chunk-prefech\n"
                                 "void halves(const float*, float*, int64_t) {}\n", "--no-verify").out
        self.said(added("plain"), "no technique 'chunk-prefech'", "did you mean 'chunk-prefetch'?")
        added("another")
        self.assertEqual(self.json("show", "halves/another")["parent"], "halves/plain")
        self.apo("register", "--retire", "halves/plain")
        added("simple")
        self.assertEqual(self.json("show", "halves/simple")["parent"], "halves/another")

    def test_one_that_is_registered_is_checked_against_the_family_that_changed(self):
        self.register("halves.h", HALVES)
        text = "void halves(const float* x, float* y, int64_t n) { while (n-- > 0) y[n] = x[n] / 2; }\n"
        self.register("mine.cpp", text, "--family", "halves")
        self.said(self.register("mine.cpp", text, "--family", "halves").out, *GATES, "halves/mine is already registered")
        self.register("halves.h", HALVES.replace("x[i] / 2", "x[i] / 4"))
        ran = self.register("mine.cpp", text, "--family", "halves", code=3)
        self.said(ran.out, "correctness: incorrect")
        self.said(ran.err, "halves/mine is not registered: gate correctness says incorrect")

    def test_a_file_as_it_is_is_called_by_the_names_of_its_parameters(self):
        self.place.write("theirs/part.cpp", "void one(float* out, const float* in, int i) { out[i] = in[i]; }\n")
        self.place.write("theirs/copies.cpp", '#include "assert.h"\n#include "part.cpp"\n'
                         "void in_blocks(float* y, const float* inp, int n, const int block) {\n"
                         "  for (int i = 0; i < n; i += block)\n"
                         "    for (int j = i; j < n && j < i + block; ++j) one(y, inp, j);\n}\n"
                         "void backwards(float* y, const float* inp, int n) { while (n-- > 0) one(y, inp, n); }\n"
                         "int main() { return 0; }\n")
        words = ["register", "theirs/copies.cpp", "--family", "copy"]
        self.said(self.apo(*words, code=3).out, "there is no function that can be called as 'void copy(",
                  "name one with --function or '// apo:function NAME': in_blocks, backwards")
        refused = self.apo(*words, "--function", "in_blocks", code=3)
        self.said(refused.out, "build_failed, theirs/copies.cpp:3: in_blocks cannot be called: nothing fits its parameter "
                  "'const float* inp'; say what it gets: '// apo:function in_blocks inp=NAME'")
        self.said(refused.err, "the function:  in_blocks(float* y, const float* inp, int n, const int block)",
                  "the contract:  copy(const float* x, float* y, int64_t n)")
        ran = self.apo(*words, "--line", "function in_blocks inp=x block=8")
        self.said(ran.out, "note: calls in_blocks(y, inp=x, n, block=8)", "copy/copies registered: ")
        words += ["--line", "tune block 4,16", "--function"]
        self.said(self.apo(*words, "in_blocks inp=x").out, "note: calls in_blocks(y, inp=x, n, block)",
                  "copy/in_blocks registered: ")
        self.said(self.apo("verify", "copy/in_blocks[block=16]", "--workload", "n4k", "--no-sanitizers").out, "valid")

    def test_a_note_names_a_tunable_that_no_line_reads(self):
        for name, code, expected in (("unread", "// BLOCK\n", 1), ("is_read", "static_assert(BLOCK > 0);\n", 0)):
            out = self.register(name + ".cpp", f"// apo:variant copy/{name}\n// apo:tune BLOCK 64,128\n"
                                '// apo:requires n > BLOCK\n#include "copy.args.h"\n' + code +
                                "void copy(const float* x, float* y, int64_t n) {\n"
                                "  for (int64_t i = 0; i < n; ++i) y[i] = x[i];\n}\n", "--no-verify").out
            self.assertEqual(out.count("note: no line reads BLOCK of its apo:tune line"), expected, out)

    def test_other_content_under_the_name_of_the_repositorys_variant_is_refused(self):
        self.said(self.register("simple.cpp", variant("simple") + "// changed\n", code=1).err,
                  "is taken by other content")

    def test_a_file_without_a_block_is_named_by_its_file_and_its_family_by_the_command(self):
        self.said(self.register("backwards.cpp", BARE, code=1).err, "name it with --family")
        self.apo("register", "--family", "copy", "backwards.cpp")
        shown = self.json("show", "copy/backwards")
        self.assertEqual((shown["parent"], shown["prediction"], shown["techniques"]), ("copy/simple", None, []))
        self.assertTrue(self.lists("copy/backwards"), "read again from its folder")

    def test_an_unregistered_variant_is_gone_until_it_is_registered_again(self):
        again = ("--family", "copy", "--no-verify")
        self.register("backwards.cpp", BARE, *again)
        self.said(self.apo("register", "--retire", "copy/backward", code=1).err, "did you mean 'copy/backwards'?")
        self.apo("register", "--retire", "copy/backwards")
        self.said(self.apo("show", "copy/backwards").out, "copy/backwards")  # in the journal
        self.assertFalse(self.place.exists(".apo/variants/copy/backwards.cpp"))
        self.assertTrue(self.place.exists(".apo/retired/copy/backwards.cpp"))
        self.said(self.apo("register", "--retire", "copy/simple", code=1).err, "was not registered")
        self.said(self.register("backwards.cpp", BARE, *again).out, "copy/backwards registered: ")

    def test_a_variant_with_registered_children_is_not_unregistered(self):
        self.register("mine.cpp", variant("mine"), "--no-verify")
        self.register("child.cpp", "// apo:variant copy/child\n// apo:parent mine\n" + BARE, "--no-verify")
        self.said(self.apo("register", "--retire", "copy/mine", code=1).err, "copy/mine is the apo:parent of copy/child",
                  "retire these first")
        self.assertTrue(self.lists("copy/mine"))
        self.apo("register", "--retire", "copy/child")
        self.apo("register", "--retire", "copy/mine")

    def test_a_journal_that_cannot_be_written_leaves_the_catalogue_alone(self):
        self.place.write(".apo/journal.db", "remember the milk\n")
        self.said(self.register("mine.cpp", variant("mine"), "--no-verify", code=1).err, "is not an SQLite file")
        self.assertFalse(self.place.exists(".apo/variants"))

    def test_a_broken_file_in_the_catalogue_is_reported_and_the_rest_works(self):
        self.place.write(".apo/variants/copy/broken.cpp", "// apo:targte host\nint x;\n")
        ran = self.apo("list")
        self.said(ran.out, "copy")
        self.said(ran.err, "broken.cpp")
        self.assertEqual(len(self.json("list")["problems"]), 1)


class RegisterHeaders(RegisterTest):
    def headed(self, value="x[i]", code=0):
        """The loop of simple, in a header of a header."""
        self.place.write("outer.h", '#include "inner.h"\n')
        self.place.write("inner.h", f"inline float value(const float* x, int64_t i) {{ return {value}; }}\n")
        include = '#include "copy.args.h"'
        return self.register("theirs.cpp", variant("headed", include, include + '\n#include "outer.h"', "y[i] = x[i]",
                                                   "y[i] = value(x, i)"), code=code)

    def test_are_copied_beside_the_variant_and_remembered(self):
        self.headed()
        self.assertLessEqual({"headed.cpp", "outer.h", "inner.h"},
                             set(os.listdir(self.place.path(".apo/variants/copy/headed"))))
        os.remove(self.place.path("outer.h"))
        os.remove(self.place.path("inner.h"))
        self.assertTrue(self.lists("copy/headed"))
        self.assertEqual(self.json("show", "copy/headed", "--source")["headers"][1]["source"], '#include "inner.h"\n')
        self.said(self.headed("x[i] + 0").out, "copy/headed@2 registered")
        self.assertEqual(len(self.of_the_journal("copy/headed")["headers"]), 2)

    def test_in_the_compilers_log_are_the_users(self):
        ran = self.headed("no_such_thing", code=3)
        self.said(ran.out, "inner.h:1:")
        self.said(ran.err, "from theirs.cpp:")
        self.not_said(ran.both, "variant.cpp")


def block(*changes):
    return variant("bad", *changes)


def before_idea(line):
    return block("// apo:idea", line + "\n// apo:idea")


class RegisterRefuses(RegisterTest):
    def test_what_fails_a_gate_and_keeps_nothing_of_it(self):
        loop = "y[i] = x[i]"
        for name, text, said in [
                ("wrong", variant("wrong", loop, loop + " + 1"), "correctness: incorrect"),
                ("behind", variant("behind", "i < n", "i < n + 1"), "correctness: "),
                ("crash", variant("crash", loop, "*static_cast<volatile int*>(nullptr) = 1"), "correctness: faulted"),
                ("broken", variant("broken", loop, "y[i] = no_such_thing"), "build: build_failed, broken.cpp:")]:
            with self.subTest(name):
                ran = self.register(name + ".cpp", text, code=3)
                self.said(ran.out, said)
                self.assertFalse(self.lists("copy/" + name))
        self.said(ran.err, "no_such_thing")
        self.assertEqual(self.json("register", "broken.cpp", code=3)["state"], "refused")
        self.nothing_kept()

    def test_bad_files_with_place_and_fix(self):
        include = '#include "copy.args.h"'
        for name, text, *parts in [
                ("empty", "", "bad.cpp"), ("binary", "\x7fELF\0\0\0", "bad.cpp"),
                ("no block", "int main() { return 0; }\n", "bad.cpp", "apo:variant"),
                ("repeated line", before_idea("// apo:target     host"), "bad.cpp:4", "target"),
                ("unknown line", before_idea("// apo:tecnique  x"), "tecnique", "technique"),
                ("unknown target", block("host", "hots"), "hots", "host"),
                ("unknown family", block("copy/bad", "copi/bad"), "copi", "copy"),
                ("no family", block("copy/bad", "bad"), "bad.cpp:1"),
                ("leaves the folder", block("copy/bad", "copy/../../bad"), "bad.cpp:1"),
                ("no values", before_idea("// apo:tune CHUNK"), "bad.cpp:4", "tune"),
                ("no number", before_idea("// apo:tune CHUNK 1,two"), "bad.cpp:4", "two"),
                ("too long", before_idea("// apo:tune CHUNK 1" + "0" * 4000), "bad.cpp:4", "list fewer values"),
                ("unknown parent", before_idea("// apo:parent simpel"), "bad.cpp", "did you mean 'copy/simple'"),
                ("missing header", block(include, '#include "gone.h"'), "bad.cpp:5", "gone.h"),
                ("header elsewhere", block(include, '#include "../gone.h"'), "bad.cpp:5", "cannot name a header"),
                ("no expression", before_idea("// apo:requires n <"), "bad.cpp:4"),
                ("unknown axis", before_idea("// apo:requires m < 4"), "bad.cpp:4", "m"),
                ("no prediction", before_idea("// apo:predict fast"), "bad.cpp:4")]:
            with self.subTest(name):
                self.place.write("bad.cpp", text)
                self.mistake(["register", "bad.cpp"], *parts)
        os.mkdir(self.place.path("folder"))
        for name in ("nowhere.cpp", "folder"):
            self.mistake(["register", name], name)
        self.nothing_kept()


# What c_api.h and dlpack.h of the TVM-FFI library declare, and a right variant of family copy with them.
FFI_TYPES = """#include <cstdint>
struct Any { int32_t type; uint32_t zero; union { int64_t i; double f; void* p; }; };
struct Tensor { void* data; int32_t device_type, device, dimensions; uint8_t code, bits; uint16_t lanes;
                int64_t *shape, *strides; uint64_t offset; };
#define EXPORT(NAME) extern "C" int __tvm_ffi_##NAME(void*, const Any* a, int32_t n, [[maybe_unused]] Any* result)
"""
FFI_COPY = """EXPORT(copy) {
  if (n != 2 || a[0].type != 7 || a[1].type != 7) return -1;
  const Tensor& x = *static_cast<Tensor*>(a[0].p);
  for (int64_t i = 0; i < x.shape[0]; ++i)
    static_cast<float*>(static_cast<Tensor*>(a[1].p)->data)[i] = static_cast<const float*>(x.data)[i];
  return 0;
}
"""


class RegisterTvmFfi(RegisterTest):
    def registered(self, name, code, *more, exit_code=0):
        built = self.place.run(["g++", "-std=c++20", "-O1", "-fPIC", "-shared", "-x", "c++", "-", "-o", name],
                               stdin=FFI_TYPES + code)
        self.assertEqual(built.code, 0, built.err)
        return self.apo("register", "--family", "copy", name, *more, code=exit_code)

    def test_an_object_passes_the_gates_and_a_new_one_is_a_new_version(self):
        self.said(self.registered("mine.so", FFI_COPY).out, *GATES)
        kept = self.place.path(".apo/variants/copy/mine/mine.so")
        self.assertEqual(read_file(kept), self.place.read("mine.so"))
        changed = self.registered("mine.so", FFI_COPY + "int more = 1;\n", "--no-verify")
        self.said(changed.out, "copy/mine@2 registered: ")
        self.assertEqual(read_file(kept), self.place.read("mine.so"))
        shown = self.apo("show", "copy/mine", "--source").out
        self.said(shown, "copy of mine.so, by TVM-FFI", "(binary, ")
        self.not_said(shown, "\0")
        self.said(self.apo("gate", "--store", "base.json", "copy/mine", code=1).err, "a baseline file cannot hold")

    def test_an_object_that_fails_a_gate_leaves_nothing(self):
        wrong = replaced(FFI_COPY, "x.data)[i]", "x.data)[0]")
        for code, said in ((wrong, "correctness: incorrect"),
                           ("EXPORT(copy) { *(volatile int*)8 = n; return 0; }", "SIGSEGV")):
            self.said(self.registered("bad.so", code, exit_code=3).out, said)
        self.place.write("text.so", "no object")
        self.apo("register", "--family", "copy", "text.so", code=1)
        self.nothing_kept()


class RegisterPython(RegisterTest):
    def test_the_example_has_a_valid_block(self):
        self.apo("register", source_path("examples", "row_softmax_triton.py"), "--no-verify")
        self.said(self.apo("list", "row_softmax").out, "triton_rows")

    def test_a_launch_line_is_one_error_with_its_line(self):
        self.said(self.register("rows.py", "# apo:variant row_softmax/rows\n# apo:launch rows grid=rows\n",
                                code=1).err, "rows.py:2: a Python file takes no apo:launch")
        self.nothing_kept()


@unittest.skipIf(HAS_GPU, "there is a GPU")
class RegisterPythonWithoutAGpu(RegisterTest):
    def test_neither_the_executor_nor_anything_else_calls_it_valid(self):
        source = "# apo:variant copy/mine\ndef run(x): return x.clone()\n"
        checked = self.register("mine.py", source, code=3)
        self.not_said(checked.out, "executor: valid")
        self.said(checked.out, "not checkable on the CPU: a Python file")
        self.nothing_kept()
        self.said(self.apo("register", "mine.py", "--no-executor").out, "not run on a GPU")
        self.assertEqual(self.place.read(".apo/variants/copy/mine.py"), source)


def zoo(name):
    return read_file(source_path("tests", "zoo", "executor", name + ".cu"))


class RegisterOnCpu(RegisterTest):
    def test_a_broken_kernel_is_refused_and_an_honest_one_added(self):
        self.said(self.register("race.cu", zoo("race_of_neighbours"), code=3).err, "gate executor says incorrect")
        self.said(self.register("honest.cu", zoo("honest_syncwarp")).out, "executor: valid")
        self.assertTrue(self.place.exists(".apo/variants/copy/honest_syncwarp.cu"))
        self.said(self.register("short.cu", zoo("host_allocates_too_little"), code=3).err, "gate executor says incorrect")
        self.said(self.register("host.cu", zoo("honest_host_code")).out, "executor: valid")

    def test_a_variant_of_large_sizes_alone_is_compiled_and_said_to_be_unchecked(self):
        large = ('// apo:variant copy/large\n// apo:target cuda sm_80\n// apo:requires n > 1000000\n'
                 '// apo:launch copy_large grid=ceil_div(n,256) block=256\n#include "copy.args.h"\n'
                 'extern "C" __global__ void copy_large(const copy_args a) {\n'
                 "  const long long i = 256LL * blockIdx.x + threadIdx.x;\n  if (i < a.n) a.y[i] = a.x[i];\n}\n")
        self.said(self.register("large.cu", large, code=None).out, "executor: not checked, none of ")
        self.said(self.register("large.cu", replaced(large, "a.y[i] = ", "a.z[i] = "), code=3).err,
                  "gate build says build_failed")


class RegisterUncheckable(RegisterTest):
    def test_what_the_cpu_cannot_check_is_compiled_and_said_to_be_unchecked(self):
        ran = self.register("ptx.cu", zoo("raw_ptx"), code=None)
        if "not run on a GPU" not in ran.out:
            self.skipTest("there is a GPU, or no toolkit")
        self.assertEqual(ran.code, 0, ran.both)
        self.said(ran.out, "executor: not checked", "build: valid, compiled for")
        self.said(self.register("unknown.cu", zoo("unknown_intrinsic"), code=3).err,
                  "gate build says build_failed")

    def test_code_that_only_a_gpus_compiler_takes_is_registered_and_said_to_be_unchecked(self):
        text = replaced(zoo("honest_syncwarp"), 'extern "C" __global__',
                        "__device__ int own() {\n  __shared__ alignas(16) int x[4];\n  return x[0];\n}\n"
                        'extern "C" __global__')
        ran = self.register("own.cu", text, code=None)
        if "not run on a GPU" not in ran.out:
            self.skipTest("there is a GPU, or no toolkit")
        self.assertEqual(ran.code, 0, ran.both)
        self.said(ran.out, "executor: not checked, n1001: not checkable on the CPU: own.cu:", "build: valid, compiled for")


main()
