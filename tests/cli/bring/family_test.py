# tests/cli/bring/family_test.py - own operations, from `apo new` to a registered variant, of every dtype; what agents need.
import json
import math
import os
import re

from apo_test import CommandTest, main, replaced

LOOP = "  for (int64_t i = 0; i < n; ++i) "
HALVED = ("// apo:family halved\n// apo:axis n 1..1048576\n// apo:input x f32[n] normal\n// apo:output y f32[n]\n"
          "// apo:workload large production n=100000\n// apo:workload w ragged n=33\ntemplate <class Real>\n"
          f"void reference(int64_t n, const Real* x, Real* y) {{\n{LOOP}y[i] = x[i] / 2;\n}}\n")
DOUBLED = ("// apo:family doubled\n// apo:axis n 1..1048576\n// apo:input x f32[n] normal\n// apo:output y f32[n]\n"
           "// apo:unit n/4096\n// apo:regimes typical wide near_zero saturating equal\n"
           "// apo:workload large production n=262144\n// apo:workload w ragged n=33\ntemplate <class Real>\n"
           f"void reference(int64_t n, const Real* x, Real* y) {{\n{LOOP}y[i] = 2 * x[i];\n}}\n")


class OwnFamily(CommandTest):
    def test_its_files_register_as_they_are_written(self):
        self.apo("new", "mine", "--axis", "n 1..65536")
        self.said(self.apo("new", "mine", code=1).err, "'mine.h' is there already")
        self.said(self.apo("register", "mine_simple.cpp", code=1).err, "unknown family 'mine'")
        self.said(self.apo("register", "mine.h").out, "family mine is registered: ")
        self.said(self.apo("register", "mine.h").out, "already registered")
        self.apo("register", "mine_simple.cpp")
        self.said(self.apo("list", "mine").out, "simple")
        run = self.apo("run", "mine")  # as `apo new` says to go on
        self.said(run.out, "there is nothing to compare mine/simple with: register another variant")
        self.not_said(run.err, "A/A sentinel")  # noise matters to judgements alone
        self.apo("register", "--retire", "mine")
        self.apo("register", "--retire", "mine", code=1)
        self.apo("list", "mine", code=1)

    def test_first_workloads_of_many_axes_are_small(self):
        self.apo("new", "many", *(word for name in "abcde" for word in ("--axis", f"{name} 1..512")))
        for line, most in zip(self.place.read("many.h").split("// apo:workload")[1:], (1 << 18, 1 << 16, 1)):
            sizes = re.findall("=([0-9]+)", line.split("\n", maxsplit=1)[0])
            self.assertLessEqual(math.prod(map(int, sizes)), most, line)

    def test_memory_that_a_call_updates_is_one_tensor_to_its_author(self):
        self.apo("new", "stepped", "--axis", "n 1..65536", "--input", "g bf16[n] normal", "--inout", "p bf16[n] normal")
        self.apo("register", "stepped.h")
        self.apo("register", "stepped_simple.cpp")
        tensors = self.json("list", "stepped")["families"][0]["tensors"]
        self.assertEqual([(one["name"], one["role"]) for one in tensors], [("g", "input"), ("p", "inout")])
        self.apo("verify", "stepped/simple", "--workload", "ragged", "--dump", "arrays", "--regime", "typical",
                 "--no-sanitizers")
        files = sorted(os.listdir(os.path.join(self.place.folder, "arrays")))
        self.assertEqual(files, ["g.npy", "p.after.npy", "p.npy", "p.reference.npy"])

    def test_a_name_that_cannot_be_registered_is_refused_before_anything_is_written(self):
        self.said(self.apo("new", "class", code=1).err, "'class' is a C++ keyword")
        self.said(self.apo("new", "copy", code=1).err, "the program has a family 'copy' already")
        self.assertEqual(os.listdir(self.place.folder), [])

    def test_without_units_is_registered_with_the_line_that_it_lacks(self):
        self.place.write("halved.h", HALVED)
        self.said(self.apo("register", "halved.h").out, "'// apo:unit n/4096', a line that registering adds")
        self.assertEqual(self.place.read(".apo/families/halved/halved.h"),
                         replaced(HALVED, "n=33\n", "n=33\n// apo:unit n/4096\n"))
        self.assertEqual(self.place.read("halved.h"), HALVED)
        self.said(self.apo("register", "halved.h").out, "already registered")

    def test_a_variant_that_is_wrong_in_a_rare_regime_is_faster_and_not_accepted(self):
        self.place.write("doubled.h", DOUBLED)
        self.apo("register", "doubled.h")
        for name, body in (("slow", LOOP + "{\n    volatile float value = x[i];\n"
                            "    for (int k = 0; k < 8; ++k) value = -value;\n    y[i] = 2 * value;\n  }\n"),
                           ("rare", "  const bool equal = n > 100000 && x[0] == x[1] && x[0] == x[n / 2];\n" +
                            LOOP + "y[i] = equal ? 0 : 2 * x[i];\n")):
            self.place.write(name + ".cpp", f"// apo:variant doubled/{name}\n// apo:target host\n"
                             '#include "doubled.args.h"\n'
                             f"void doubled(const float* x, float* y, int64_t n) {{\n{body}}}\n")
        self.apo("register", "slow.cpp")
        self.apo("register", "rare.cpp", "--no-verify")
        ran = self.apo("compare", "doubled/slow", "doubled/rare", "--judge", "standard", "--json", code=None)
        judgement = ran.document["judgement"]  # without a gain, the regimes are not asked
        self.assertIn(judgement["verdict"], ("reverted", "inconclusive"), judgement["sentence"])
        self.assertEqual(ran.code, 3 if judgement["reason"] == "gate_failed" else 0, ran.both)

    def test_a_wrong_file_is_one_error_and_nothing_is_registered(self):
        self.place.write("bad.h", "// apo:family bad\n// apo:axis n 1..8\n// apo:input x f33[n]\n")
        self.said(self.apo("register", "bad.h", code=1).err, "bad.h:3: unknown dtype 'f33'")
        self.place.write("copy.h", "// apo:family copy\n// apo:axis n 1..8\n// apo:input x f32[n]\n"
                         "// apo:output y f32[n]\n// apo:workload w small n=3\n")
        self.said(self.apo("register", "copy.h", code=1).err, "the program has a family 'copy' already")
        self.assertFalse(self.place.exists(".apo/families"))


# dtype: distribution, result of the reference, on the host, on a device. Halving a float is exact, and the bits of 16
# and 8 are halved where they lie.
FORMATS = {
    "f64": ("normal", "h * x[i]", "h * x[i]", "a.h * x[i]"),
    "f32": ("normal", "h * x[i]", "h * x[i]", "a.h * x[i]"),
    "f16": ("normal", "h * x[i]", "halved(x[i], 5, 10)", "__float2half(a.h * __half2float(x[i]))"),
    "bf16": ("normal", "h * x[i]", "halved(x[i], 8, 7)", "__float2bfloat16(a.h * __bfloat162float(x[i]))"),
    "e4m3": ("normal", "h * x[i]", "halved(x[i], 4, 3)", "__nv_fp8_e4m3(a.h * float(x[i]))"),
    "e5m2": ("normal", "h * x[i]", "halved(x[i], 5, 2)", "__nv_fp8_e5m2(a.h * float(x[i]))"),
    **{dtype: ("index(0..99)", "x[i] + k", "x[i] + k", "x[i] + a.k") for dtype in ("i64", "i32", "i16", "i8", "u8")},
    "bool": ("mask", "1 - x[i]", "!x[i]", "!x[i]")}


def lines(template, column, x):
    """A line a dtype, in which D is its name and x[i] its input."""
    return "".join((template % values[column].replace("x[i]", x)).replace("_D", "_" + dtype)
                   for dtype, values in FORMATS.items())


class EveryDtype(CommandTest):
    def test_is_right_on_the_host_and_in_the_executor(self):
        def parameters(template):
            return "".join(template.replace("D", dtype).replace(
                "T", "int64_t" if dtype[0] in "iu" or dtype == "bool" else "Real") for dtype in FORMATS)
        self.place.write(
            "every.h", "// apo:family every\n// apo:axis n 1..4096\n// apo:scalar k i32 3\n// apo:scalar h f32 0.5\n" +
            "".join(f"// apo:input x_{dtype} {dtype}[n] {distribution}\n// apo:output y_{dtype} {dtype}[n]\n"
                    for dtype, (distribution, *_) in FORMATS.items()) +
            "// apo:workload n37 ragged n=37\ntemplate <class Real>\nvoid reference(int64_t n, int64_t k, Real h" +
            parameters(", const T* x_D") + parameters(", T* y_D") + ") {\n" + LOOP + "{\n" +
            lines("    y_D[i] = %s;\n", 1, "x_D[i]") + "  }\n}\n")
        self.place.write(".apo/variants/every/host.cpp", """#include "every.args.h"
static unsigned halved(unsigned bits, int exponent_bits, int fraction_bits) {
  const unsigned sign = bits & 1u << (exponent_bits + fraction_bits), size = bits & ~sign;
  if (size >> fraction_bits > 1) return bits - (1u << fraction_bits);
  return sign | ((size >> 1) + (size & size >> 1 & 1));
}
APO_EXPORT uint32_t apo_abi() { return APO_ABI_VERSION; }
APO_EXPORT int apo_launch(const apo_call* call) {
  const every_args& a = *static_cast<const every_args*>(call->arguments);
  const int64_t k = a.k;
  const float h = a.h;
  for (int64_t i = 0; i < a.n; ++i) {
""" + lines("    a.y_D[i] = %s;\n", 2, "a.x_D[i]") + "  }\n  return 0;\n}\n")
        self.place.write(".apo/variants/every/device.cu", "// apo:launch every grid=ceil_div(n,32) block=32\n"
                         '#include "every.args.h"\nextern "C" __global__ void every(const every_args a) {\n'
                         "  const long long i = 32LL * blockIdx.x + threadIdx.x;\n  if (i >= a.n) return;\n" +
                         lines("  a.y_D[i] = %s;\n", 3, "a.x_D[i]") + "}\n")
        for words in ("every/host", "every/device --on cpu", "every/host --workload n37 --dump dump"):
            self.said(self.apo("verify", *words.split(), "--families", "every.h", "--no-sanitizers").out, "valid")
        self.assertTrue(self.place.exists("dump/y_e4m3.npy"))

    def test_an_integer_that_is_not_written_is_refused_though_all_its_bits_are_ones(self):
        outputs = {"i64": ("int64_t", "-1"), "i32": ("int32_t", "-1"), "u8": ("uint8_t", "255"), "bool": ("bool", "1")}
        loop = "".join(f"    y_{dtype}[i] = {right};\n" for dtype, (_, right) in outputs.items())
        self.place.write(
            "ones.h", "// apo:family ones\n// apo:axis n 1..4096\n// apo:input x f32[n] normal\n" +
            "".join(f"// apo:output y_{dtype} {dtype}[n]\n" for dtype in outputs) +
            "// apo:workload n64 small n=64\ntemplate <class Real>\nvoid reference(int64_t n, const Real* x" +
            "".join(f", int64_t* y_{dtype}" for dtype in outputs) + f") {{\n{LOOP}{{\n{loop}  }}\n}}\n")

        def verify(name, body, code):
            self.place.write(f".apo/variants/ones/{name}.cpp", "#include <stdint.h>\nvoid ones(const float* x" +
                             "".join(f", {type}* y_{dtype}" for dtype, (type, _) in outputs.items()) +
                             f", int64_t n) {{\n{LOOP}{{\n{body}  }}\n}}\n")
            return self.apo("verify", "ones/" + name, "--families", "ones.h", "--no-sanitizers", code=code)
        verify("whole", loop, 0)
        for dtype in outputs:
            half = verify("half_" + dtype, replaced(loop, "y_" + dtype, "if (i < n / 2) y_" + dtype), 3)
            self.said(half.out, f"y_{dtype}[", "] was never written")


    def test_a_regime_in_which_a_derived_input_is_not_finite_is_left_out(self):
        self.place.write(
            "grown.h", "// apo:family grown\n// apo:axis n 1..4096\n// apo:input x f32[n] normal\n"
            "// apo:derive s f32[1]\n// apo:output y f32[n]\n// apo:workload n64 small n=64\n"
            "template <class Real>\nvoid derive(int64_t n, const Real* x, Real* s) { s[0] = exp(x[0] * x[0]); }\n"
            "template <class Real>\nvoid reference(int64_t n, const Real* x, const Real* s, Real* y) {\n" + LOOP +
            "y[i] = x[i] * s[0];\n}\n")
        self.place.write(".apo/variants/grown/plain.cpp", "#include <stdint.h>\n"
                         "void grown(const float* x, const float* s, float* y, int64_t n) {\n" + LOOP +
                         "y[i] = x[i] * s[0];\n}\n")
        out = self.apo("verify", "grown/plain", "--families", "grown.h", "--no-sanitizers").out
        self.said(out, "correctness: valid", "left out where the reference is not finite", "offset")


class NewForAgents(CommandTest):
    def states(self, *words):
        return {file["path"]: file["state"] for file in self.json("new", "--agents", *words)["files"]}

    def test_an_empty_folder_gets_the_files_of_every_client(self):
        files = ("AGENTS.md", ".apo/.gitignore", ".claude/skills/apo/SKILL.md", ".mcp.json", ".codex/skills/apo/SKILL.md",
                 ".codex/config.toml", ".cursor/mcp.json", ".vscode/mcp.json")
        self.assertEqual(self.states(), dict.fromkeys(files, "written"))
        skill = self.place.read(".claude/skills/apo/SKILL.md")
        self.assertTrue(skill.startswith("---\nname: apo\n"), "the name is the folder's")
        self.said(skill, "\ndescription:")
        command = json.loads(self.place.read(".mcp.json"))["mcpServers"]["apo"]["command"]
        self.assertTrue(command == "apo" or os.path.isabs(command), command)
        self.said(self.place.read("AGENTS.md"), command + " evaluate FILE")
        self.assertEqual(self.states(), dict.fromkeys(files, "exists"))

    def test_what_exists_is_left_or_merged_without_loss(self):
        comment = '// mine\n{"mcpServers": {}}\n'
        kept = {"AGENTS.md": "mine\n", "shared.json": "{}", ".cursor/mcp.json": comment,
                ".codex/config.toml": 'model = "x"\n'}
        for name, text in {**kept, ".mcp.json": '{\n  "mcpServers": {}\n}\n'}.items():
            self.place.write(name, text)
        os.mkdir(self.place.path(".vscode"))
        os.symlink("../shared.json", self.place.path(".vscode/mcp.json"))
        self.said(self.apo("new", "--agents").out, "left AGENTS.md as it is\n", "added the server apo to .mcp.json\n",
                  'left .cursor/mcp.json as it is; add to it:\n"apo": {', "add to it:\n[mcp_servers.apo]\n")
        self.assertEqual({name: self.place.read(name) for name in kept}, kept)
        self.assertIn("apo", json.loads(self.place.read(".mcp.json"))["mcpServers"])
        self.assertTrue(os.path.islink(self.place.path(".vscode/mcp.json")), "a link is not followed")

    def test_one_client_gets_its_own_and_an_unknown_one_nothing(self):
        self.said(self.apo("new", "--agents", "curser", code=1).err, "did you mean 'cursor'?")
        self.assertFalse(self.place.exists("AGENTS.md"))
        self.place.write(".cursor", "a file")
        self.said(self.apo("new", "--agents", "cursor", code=2).err, ".cursor/mcp.json")
        os.remove(self.place.path(".cursor"))
        self.assertEqual(self.states("cursor")[".cursor/mcp.json"], "written")

    def test_one_client_alone(self):
        self.assertEqual(self.states("cursor"), {"AGENTS.md": "written", ".apo/.gitignore": "written", ".cursor/mcp.json": "written"})


main()
