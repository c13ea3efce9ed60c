"""submission.py - the file as something to call: a function, or a model whose weights are the family's memory."""
import ast
import inspect
import re
import sys
import types
from pathlib import Path

import forms
from forms import Fault
from trials import trials


def problem_of(contract, family):
    """The text of the definition that 'apo import kernelbench' wrote; "" for any other family."""
    _, found, text = contract.partition(f"// {family}_definition.py\n")
    text = text.split(f"\n// {family}_re", 1)[0]
    return text if found and "def forwarded(" in text else ""


def run_text(text, path, name):
    """A module of this text, as an import of it gives."""
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    exec(compile(text, path, "exec"), module.__dict__)
    return module


def without_trials(text, path, function):
    """The file without its own tests and benchmarks, each of which is named."""
    tree = ast.parse(text, path)
    left_out = trials(tree.body, [function, forms.UPSTREAM, "get_init_inputs"])
    for one in left_out:
        print(f"{path}:{one.lineno}: left out, since '{function}' needs nothing of it: {ast.unparse(one)[:60]}")
    tree.body = [one for one in tree.body if one not in left_out]
    return tree


def plain(name):
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def state_of(model):
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def weights_by_name(model, tensors, known):
    """{name in the state: tensor of the family}. `known` has them where the problem says it; else those that are called
    alike."""
    state = state_of(model)
    if known is not None:
        return {name: tensor for name, tensor in known.items() if name in state}, list(known.values())
    found = {name: plain(name) for name in state if plain(name) in tensors}
    return found, list(found.values())


def bind_weights(model, tensors, known=None):
    """The parameters of the model become the family's memory, and `tensors` name them, so that their versions count each
    set of weights. One that has no namesake takes the next of its shape. Returns the names of the family's tensors that
    are weights."""
    state = state_of(model)
    chosen, wanted = weights_by_name(model, tensors, known)
    left = [name for name in wanted if name not in chosen.values()]
    for name in left:
        one = tensors[name]
        fits = (
            own for own, has in state.items() if own not in chosen and has.shape == one.shape and has.dtype == one.dtype
        )
        own = next(fits, None)
        if own is None:
            raise Fault(
                "wrong_abi",
                (
                    f"the model has no parameter for the weight '{name}', {list(one.shape)} of {one.dtype}: keep "
                    "the parameters of Model under their names"
                ),
            )
        chosen[own] = name
    for own, name in chosen.items():
        if state[own].shape != tensors[name].shape or state[own].dtype != tensors[name].dtype:
            raise Fault(
                "wrong_abi",
                (
                    f"the model's '{own}' is {list(state[own].shape)} of {state[own].dtype}, and the weight "
                    f"'{name}' is {list(tensors[name].shape)} of {tensors[name].dtype}"
                ),
            )
        state[own].data = tensors[name]
        tensors[name] = state[own].detach()
    return wanted


def loading_first(torch, model):
    """What a model makes of its weights when they are loaded is part of a call: each has other weights."""
    if type(model).load_state_dict is torch.nn.Module.load_state_dict:
        return model

    def call(*given, **named):
        model.load_state_dict(model.state_dict())
        return model(*given, **named)

    return call


class Call:
    """The function with what it gets: `names` of the family's tensors among its arguments, and `values()` of a call."""

    def __init__(self, torch, request, tensors, device):
        self.request, self.tensors = request, tensors
        family = request["family"]
        path = request["file"]
        text = Path(path).read_text(encoding="utf-8")
        self.form = forms.find_form(text, path, family["name"], request["variant"], request["function"])
        module = run_text(without_trials(text, path, self.form.name), path, "python_variant")
        self.function, weights = getattr(module, self.form.name), ()
        self.problem = problem_of(request["contract"], family["name"]) if self.form.is_class else ""
        if self.form.is_class:
            weights = self.make_model(torch, module, device)
        self.shown = forms.shown(self.form, family, request["arguments"]) if not self.form.is_class else ""
        if self.problem:
            self.pairs = []
        elif self.form.is_bundle:
            self.pairs = [(None, one) for one in forms.bundle(self.form, family)]
        else:
            self.pairs = forms.match(self.form, family, request["arguments"], weights)
        if self.form.is_class:
            given = "as Model" if self.problem else ", ".join(value for _, value in self.pairs)
            self.shown = f"{self.form.name}.forward({given})" + (
                f" with the weights {', '.join(weights)}" if weights else ""
            )

    def make_model(self, torch, module, device):
        """The model with the family's weights. Returns their names."""
        known, initial = None, getattr(module, "get_init_inputs", lambda: [])
        self.forwarded, training = None, True
        if self.problem:
            definition = run_text(self.problem, "problem.py", "problem")
            sizes = inspect.signature(definition.problem).parameters
            self.sizes = {name: self.request["values"][name] for name in sizes if name in self.request["values"]}
            initial = definition.problem(**self.sizes)[2]
            known, training = definition.STATE, definition.IS_TRAINING
            self.forwarded = definition.forwarded
            module.get_init_inputs = initial
        elif self.form.name not in ("ModelNew", forms.UPSTREAM):
            initial = list
        sizes = [name for name in inspect.signature(initial).parameters if name in self.request["values"]]
        model = self.function(*initial(**{name: self.request["values"][name] for name in sizes}))
        if isinstance(model, torch.nn.Module):
            self.function = loading_first(torch, model.train(training).to(device))
            return bind_weights(model, self.tensors, known)
        self.function = model
        return []

    def value(self, text, given):
        if text in given:
            return given[text]
        if text in self.request["values"]:
            return self.request["values"][text]
        return ast.literal_eval(text)

    def __call__(self, given):
        """`given`: {name: tensor}"""
        if self.problem:
            scalars = {name: self.request["values"][name] for name in self.request["family"]["scalars"]}
            inputs = {name: given[name] for name in forms.names(self.request["family"]["inputs"])}
            return self.function(*self.forwarded(self.sizes, **inputs, **scalars))
        values = [self.value(text, given) for _, text in self.pairs]
        if self.form.is_bundle:
            return self.function(tuple(values) if self.form.parts or len(values) > 1 else values[0])
        by_name = self.given_by_name()
        plain_ones = [value for (name, _), value in zip(self.pairs, values) if name not in by_name]
        named = {name: value for (name, _), value in zip(self.pairs, values) if name in by_name}
        return self.function(*plain_ones, **named)

    def given_by_name(self):
        """The parameters that take no place: those behind a default that stays, too."""
        parameters = self.form.parameters or []
        found = {one.name for one in parameters if one.by_name_only}
        given = {name for name, _ in self.pairs}
        places = [one.name for one in parameters if not one.by_name_only]
        gap = next((place for place, name in enumerate(places) if name not in given), len(places))
        return found | set(places[gap:])

    def uses(self):
        """The tensors that are arguments."""
        return [value for _, value in self.pairs if value in self.tensors]
