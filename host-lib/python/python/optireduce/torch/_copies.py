"""States of optimizers as text and tensors, to copy them to other ranks.

Why not pickle: a rank must not run code of another one for a copy.
"""

from typing import Any

import torch


def pack(value: Any, tensors: list[torch.Tensor]) -> Any:
    """Returns the value in types of JSON, and appends its tensors to `tensors`. Values of other types
    than Python's own are left out."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return {"float": value.hex()}
        case list() | tuple():
            return {type(value).__name__: [pack(one, tensors) for one in value]}
        case dict():
            return {"dict": [[pack(name, tensors), pack(one, tensors)] for name, one in value.items()]}
        case torch.Tensor() if value.layout == torch.strided:
            tensors.append(value)
            return {"tensor": [str(value.dtype).removeprefix("torch."), list(value.shape), value.device.type == "cpu"]}
    return {"other": type(value).__name__}


def unpack(packed: Any, own: Any, device: torch.device, tensors: list[torch.Tensor]) -> Any:
    """Returns a packed value, and appends its tensors to `tensors`, which the caller fills. `own` is
    the value of this rank, whose tensors are used where they fit."""
    if not isinstance(packed, dict):
        return packed
    ((kind, content),) = packed.items()
    match kind:
        case "float":
            return float.fromhex(content)
        case "list" | "tuple":
            mine = own if isinstance(own, list | tuple) and len(own) == len(content) else [None] * len(content)
            values = [unpack(one, of_this_rank, device, tensors) for one, of_this_rank in zip(content, mine)]
            return values if kind == "list" else tuple(values)
        case "dict":
            named = own if isinstance(own, dict) else {}
            names = [unpack(name, None, device, []) for name, _ in content]
            values = [unpack(one, named.get(name), device, tensors) for name, (_, one) in zip(names, content)]
            return dict(zip(names, values))
        case "tensor":
            dtype, shape, is_on_host = getattr(torch, content[0]), torch.Size(content[1]), content[2]
            if not (isinstance(own, torch.Tensor) and own.dtype == dtype and own.shape == shape):
                own = torch.empty(shape, dtype=dtype, device="cpu" if is_on_host else device)
            tensors.append(own)
    return own


def others(packed: Any) -> set[str]:
    """Returns the types of values that `pack` left out."""
    if isinstance(packed, list):
        return {name for one in packed for name in others(one)}
    if not isinstance(packed, dict):
        return set()
    ((kind, content),) = packed.items()
    return {content} if kind == "other" else others(content) if kind in ("list", "tuple", "dict") else set()
