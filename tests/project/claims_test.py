# tests/project/claims_test.py - the claims of experiments/court/claims.json name what is there; the rule of verdicts.
#
# python3 -B tests/project/claims_test.py
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(CHECKOUT / "experiments"))
import court  # noqa: E402
import court_claims  # noqa: E402

CLAIMS = json.loads((court.COURT / "claims.json").read_text())
REPEATABLE = [claim for claim in CLAIMS if "not_repeatable" not in claim]


class Claims(unittest.TestCase):
    def test_families_have_the_workloads(self):
        for claim in REPEATABLE:
            text = court_claims.family_file(claim).read_text()
            self.assertRegex(text, rf"// apo:workload +{claim['workload']} ", claim["name"])

    def test_files_of_ours_define_what_is_called(self):
        for claim in REPEATABLE:
            for name, side in court_claims.sides(claim):
                if "own" in side and "function" in side:
                    text = (court_claims.CLAIMS / side["own"]).read_text()
                    self.assertRegex(text, rf"(?m)^(def )?{side['function']}( =|\()", claim["name"])

    def test_headers_of_pytorch_become_one_of_ours(self):
        with tempfile.TemporaryDirectory() as folder:
            clones = Path(folder) / "clones"
            clones.mkdir()
            (clones / "x.cu").write_text("#include <torch/extension.h>\n  #include <ATen/x.h>\n#include <vector>\n")
            side = {"own": "adapters/rms_norm_f32.cu", "kernel": "x.cu", "lines": ["requires cols % 4 == 0"]}
            path = court_claims.written(side, "mine", Path(folder), clones)
            kernel = (path.parent / "kernel.cu").read_text()
            self.assertEqual(kernel, '#include "tensor.h"\n#include "tensor.h"\n#include <vector>\n')
            self.assertTrue((path.parent / "tensor.h").exists())
            self.assertTrue(path.read_text().startswith("// apo:requires cols % 4 == 0\n"))

    def test_a_figure_holds_where_the_interval_reaches_it(self):
        for figure, lower, upper, verdict in ((1.28, 1.30, 1.35, "holds"), (1.28, 1.25, 1.26, "holds"),
                                              (1.28, 1.10, 1.15, "holds in part"), (1.28, 0.99, 1.20, "does not hold"),
                                              (1.28, 0.95, 1.40, "undecided"), (0.5, 0.45, 0.55, "undecided"),
                                              (0.5, 0.70, 0.80, "holds"), (0.5, 0.40, 0.48, "does not hold"),
                                              (1.0, 0.99, 1.01, "holds"), (1.0, 0.96, 1.01, "undecided"),
                                              (1.0, 1.20, 1.30, "does not hold")):  # fmt: skip
            self.assertEqual(court_claims.verdict_of(figure, lower, upper), verdict, (figure, lower, upper))

    def test_the_page_has_a_row_for_each(self):
        page = (court.COURT / "claims.md").read_text()
        self.assertEqual(re.findall(r"(?m)^\| ([a-z0-9-]+) \| \[", page), [claim["name"] for claim in CLAIMS])

    def test_scripts_beside_them_can_be_started_as_a_round_does(self):
        for path in (CHECKOUT / "experiments").glob("*.[ps][yh]"):
            starts = path.read_bytes().startswith(b"#!")
            self.assertTrue(not starts or path.stat().st_mode & 0o100, f"{path} is not executable")


if __name__ == "__main__":
    unittest.main()
