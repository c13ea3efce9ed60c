import os
import types


class Backend:
    def parse_options(self, options):
        return types.SimpleNamespace(**options)

    def make_cubin(self, ptx, metadata, options, capability):
        print("assembled", repr(ptx))
        with open(os.environ["APO_TEST_CUBIN"], "rb") as file:
            return file.read()


def make_backend(target):
    return Backend()
