"""results.py - whether what a call returned are the outputs of the family: whole tensors on the GPU, each in memory of
its own.

`torch` is handed over, so that CPU tensors can take the place of those on a GPU where there is none.
"""
from forms import Fault


def wrong(what):
    return Fault("wrong_abi", what)


def kind_of(value):
    return "nothing" if value is None else f"a {type(value).__name__}"


def in_order(result, outputs, destinations):
    """The tensors of a result in the order of the outputs. What was given as destination may be left out."""
    wanted = [one["name"] for one in outputs]
    rest = [name for name in wanted if name not in destinations]
    if result is None:
        if rest:
            raise wrong(f"it returns nothing, and '{rest[0]}' was no argument that it could write")
        return [destinations[name] for name in wanted]
    if isinstance(result, dict):
        missing = [name for name in rest if name not in result]
        if missing:
            raise wrong(f"it returns a dict without '{missing[0]}'")
        return [result[name] if name in result else destinations[name] for name in wanted]
    if len(wanted) == 1 and isinstance(result, list):
        raise wrong(f"it returns a list, and '{wanted[0]}' is a tensor: return the tensor itself")
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(results) == len(wanted):
        return results
    if len(results) != len(rest):
        raise wrong(f"it returns {len(results)} values, and the family has the outputs {', '.join(wanted)}")
    found = {**destinations, **dict(zip(rest, results))}
    return [found[name] for name in wanted]


def storage_of(torch, tensor):
    """Its first address, and its bytes."""
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage().untyped()
    return storage.data_ptr(), storage.nbytes()


def check_tensor(torch, tensor, spec, device, shape, dtype):
    name = spec["name"]
    if not isinstance(tensor, torch.Tensor):
        raise wrong(f"it returns {kind_of(tensor)} for '{name}', which is a tensor")
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        raise wrong(f"'{name}' is a {type(tensor).__name__}, which computes when somebody looks: return a plain tensor")
    if tensor.device.type != device:
        raise wrong(f"'{name}' lies on the {tensor.device.type.upper()}: return a tensor on the GPU")
    if tensor.dtype != dtype:
        raise wrong(
            f"'{name}' has dtype {str(tensor.dtype).removeprefix('torch.')}, and the family's is "
            f"{str(dtype).removeprefix('torch.')}: convert it with .to()"
        )
    if list(tensor.shape) != list(shape):
        raise wrong(f"'{name}' has shape {list(tensor.shape)}, and the family's is {list(shape)}")
    if not tensor.is_contiguous():
        raise wrong(f"'{name}' is not contiguous, its strides are {list(tensor.stride())}: return .contiguous()")


def check_memory(torch, tensor, name, inputs, owners):
    """`inputs`: {name: tensor}; `owners`: {first address: the output that has it}, to which this one is added."""
    start, size = storage_of(torch, tensor)
    for other, one in inputs.items():
        if start == storage_of(torch, one)[0] and size > 0:
            raise wrong(f"'{name}' is the memory of the input '{other}': return a tensor of its own")
    if tensor.storage_offset() != 0 or size != tensor.numel() * tensor.element_size():
        raise wrong(f"'{name}' is a view of {size} bytes of other memory: return .clone(), or a tensor of its own")
    if start in owners and size > 0:
        raise wrong(f"'{name}' and '{owners[start]}' share their memory: return a tensor for each")
    owners[start] = name


def outputs_of(torch, result, outputs, destinations, inputs, shapes, dtypes, device="cuda"):
    """{name: tensor} of what a call returned. `destinations` are the outputs that were arguments, and those that a call
    updates in place; `inputs` those that it only reads. Throws Fault."""
    found, owners = {}, {}
    for spec, tensor in zip(outputs, in_order(result, outputs, destinations)):
        name = spec["name"]
        check_tensor(torch, tensor, spec, device, shapes[name], dtypes[name])
        known = destinations.get(name)
        if known is None or tensor.data_ptr() != known.data_ptr():
            if spec.get("in_place"):
                raise wrong(f"'{name}' is updated in place, and it returns other memory for it")
            check_memory(
                torch, tensor, name, {**inputs, **{one: at for one, at in destinations.items() if one != name}}, owners
            )
        found[name] = tensor
    return found


def same_bytes(torch, one, other):
    return torch.equal(one.contiguous().view(-1).view(torch.uint8), other.contiguous().view(-1).view(torch.uint8))


def check_inputs(torch, inputs, before):
    """`before`: what they held, {name: tensor}; None for zeros."""
    for name, one in inputs.items():
        held = before.get(name)
        as_bytes = one.contiguous().view(-1).view(torch.uint8)
        same = not bool(as_bytes.any()) if held is None else same_bytes(torch, one.to(held.device), held)
        if not same:
            raise Fault("incorrect", f"it changes its input '{name}'")


def look_alike(torch, one, other):
    """Two results on the same inputs: sums in another order differ by less."""
    if not one.dtype.is_floating_point:
        return torch.equal(one, other)
    one, other = one.double(), other.double()
    largest = float(one.abs().nan_to_num(posinf=0).max()) if one.numel() else 0
    return torch.allclose(one, other, rtol=1e-2, atol=1e-2 * largest, equal_nan=True)
