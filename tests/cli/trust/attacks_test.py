# tests/cli/trust/attacks_test.py - attacks of tests/zoo/attacks through the program, and experiments with a guard off.
#
# Those that take a whole comparison, and those for a GPU, are for experiments/attacks.sh.
import glob
import os
import re

from apo_test import CommandTest, main, read_file, source_path, variant


class Attack:
    def __init__(self, path):
        self.file = os.path.basename(path)
        self.name, extension = os.path.splitext(self.file)
        self.source = read_file(path)
        said = "; ".join(re.findall("^// zoo: (.*)$", self.source, re.MULTILINE))
        notes = dict(part.split(" ", 1) for part in said.split("; ") if part)
        self.on_cpu = extension == ".cu"  # a device variant, on the CPU executor
        self.how = notes.get("how", "").split()
        self.against = notes.get("against", "")
        self.expect = notes.get("expect", "").strip()
        self.evidence = [words.strip() for words in notes.get("evidence", "").split(",")]
        if self.on_cpu:
            timed = self.how[:1] == ["compare"]
            self.expect = notes.get("cpu", "no" if timed else self.expect).strip()
            self.how, self.evidence = ["verify"], []

    def is_quick(self):
        """What a few seconds decide."""
        whole = (self.expect in ("faster", "guard_failed") or self.expect.startswith("claim_at_most") or
                 self.expect == "not_accepted" and self.name != "host_remembers_by_content")
        honest_kernel = self.on_cpu and self.expect == "valid"  # tests/zoo/executor has enough of them
        return not whole and not honest_kernel and self.expect != "no" and "library" not in self.name


class AttackTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.share_place()  # where `apo` finds all of them
        paths = sorted(glob.glob(source_path("tests", "zoo", "attacks", "*")))
        for path in paths:  # with the headers that they share
            cls.place.write("variants/copy/" + os.path.basename(path), read_file(path))
        cls.attacks = [Attack(path) for path in paths if path.endswith((".cpp", ".cu"))]

    def run_attack(self, attack, *more, code=None):
        if attack.how[:1] == ["compare"]:
            words = ["compare", attack.against, "copy/" + attack.name, "--cache", attack.how[1], "--workload",
                     attack.how[2], "--judge", "standard", "--no-journal"]
        else:
            words = ["verify", "copy/" + attack.name, "--no-sanitizers", *(["--on", "cpu"] if attack.on_cpu else [])]
        return self.apo(*words, "--quiet", "--journal", self.place.path("journal.db"), *more, code=code)

    def get_what_they_deserve(self, attacks):
        self.assertGreater(len(attacks), 10)
        for attack in attacks:
            with self.subTest(attack.file):
                out = self.run_attack(attack).out
                if attack.expect == "not_accepted":
                    self.said(out, "verdict: ")
                    self.not_said(out, "accepted")
                    continue
                # "correctness: incorrect, ...", "... while it was timed: incorrect, ...", "reverted (guard_failed)".
                self.assertRegex(out, rf": {attack.expect}(, | at the gate)|\({attack.expect}\)")
                self.said(out, *attack.evidence)


class AttacksOnTheHost(AttackTest):
    def test_get_what_they_deserve(self):
        self.get_what_they_deserve([one for one in self.attacks if one.is_quick() and not one.on_cpu
                                    and one.expect != "valid"])


class LookAlikesOnTheHost(AttackTest):
    def test_get_what_they_deserve(self):
        self.get_what_they_deserve([one for one in self.attacks if one.is_quick() and not one.on_cpu
                                    and one.expect == "valid"])


class AttacksOfKernels(AttackTest):
    def test_get_what_they_deserve(self):
        self.get_what_they_deserve([one for one in self.attacks if one.is_quick() and one.on_cpu])


class Ablation(AttackTest):
    def test_an_attack_gets_through_without_its_guard_and_is_marked(self):
        [attack] = [attack for attack in self.attacks if attack.name == "host_clamps"]
        self.run_attack(attack, code=3)
        self.said(self.run_attack(attack, "--ablate", "regimes", code=0).err, "guards switched off: regimes")

    def test_nothing_reaches_the_journal_or_the_catalogue(self):
        self.place.write("mine.cpp", variant("mine"))
        self.said(self.apo("register", "mine.cpp", "--quiet", "--ablate", "poison").out,
                  "not registered: a guard is switched off")
        self.not_said(self.apo("list", "copy").out, "  mine\n")
        self.said(self.apo("compare", "copy/simple", "copy/memcpy", "--quiet", "--ablate", "poison", code=1).err,
                  "a journal takes nothing")
        self.assertFalse(self.place.exists(".apo/journal.db"))

    def test_only_a_guard_that_can_be_off_is_taken(self):
        self.said(self.apo("verify", "copy/simple", "--ablate", "poisson", code=1).err, "did you mean 'poison'")
        self.apo("verify", "copy/simple", "--ablate", "deadline", code=1)
        self.not_said(self.apo("verify", "--help").out, "--ablate")  # it is not for users


main()
