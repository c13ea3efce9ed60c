# tests/cli/look/diff_test.py - `apo show --diff`: sources and metadata of two variants.
from apo_test import CommandTest, main, variant

INCLUDE = '#include "copy.args.h"'


class Diff(CommandTest):
    def setUp(self):
        """A child of simple that doubles, in a header."""
        super().setUp()
        self.place.write(".apo/variants/copy/child.cpp",
                         variant("child", "// apo:idea", "// apo:parent simple\n// apo:idea", INCLUDE,
                                 INCLUDE + '\n#include "twice.h"'))
        self.place.write(".apo/variants/copy/twice.h", "inline float twice(float x) { return 2 * x; }\n")

    def test_shows_what_a_variant_changes_in_its_parent(self):
        out = self.apo("show", "copy/child", "--diff").out
        self.said(out, "copy/child against copy/simple", "- none: the root of its family", "+ copy/simple",
                  "--- simple.cpp", "+++ child.cpp", '+#include "twice.h"\n', "--- /dev/null\n+++ twice.h")
        self.not_said(out, "\033[")  # colours are for terminals

    def test_is_a_document_and_takes_any_two_variants(self):
        document = self.json("show", "copy/simple", "--diff", "copy/child")
        self.assertEqual((document["variant"], document["base"]), ("copy/simple", "copy/child"))
        self.said(document["diff"], '-#include "twice.h"')
        self.assertTrue(document["metadata"])

    def test_without_a_parent_asks_for_another_variant(self):
        self.said(self.apo("show", "copy/simple", "--diff", code=1).err, "'apo show copy/simple --diff OTHER'")
        self.said(self.apo("show", "copy/simpel", "--diff", code=1).err, "did you mean 'copy/simple'")


main()
