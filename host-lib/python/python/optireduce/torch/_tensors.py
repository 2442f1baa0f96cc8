"""Conversion of tensors to bytes and float32 arrays, and back."""

from collections.abc import Sequence

import torch

from .. import ArgumentError

#: Types that bounded reductions convert to float32.
BOUNDED_TYPES = (torch.float32, torch.bfloat16, torch.float16)

ELEMENTS = {
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.int16: "i16",
    torch.uint16: "u16",
    torch.int32: "i32",
    torch.uint32: "u32",
    torch.int64: "i64",
    torch.uint64: "u64",
    torch.bool: "u8",
}


def check(tensors: Sequence[torch.Tensor], operation: str) -> None:
    for tensor in tensors:
        if tensor.device.type != "cpu":
            raise ArgumentError(
                f"{operation}: a tensor is on device {tensor.device}, expected cpu; make the group with "
                "init_process_group('cpu:optireduce,cuda:nccl'), or use optireduce.torch.comm_hook for gradients on GPUs"
            )
        if tensor.layout != torch.strided:
            raise ArgumentError(
                f"{operation}: a tensor is sparse, expected a dense one; call to_dense() first, or make its layer with sparse=False "
                f"(its layout is {tensor.layout})"
            )


def check_type(tensor: torch.Tensor, operation: str) -> None:
    """Raises an error unless gradients of this layout and type can be averaged."""
    if tensor.layout != torch.strided:
        raise ArgumentError(
            f"{operation}: a gradient is sparse, expected a dense one; make its layer with sparse=False, as in Embedding "
            f"(its layout is {tensor.layout})"
        )
    if tensor.dtype not in ELEMENTS or not tensor.dtype.is_floating_point:
        raise ArgumentError(f"{operation}: gradients are of {tensor.dtype}, expected float16, bfloat16, float32 or float64")


def to_bytes(tensor: torch.Tensor) -> memoryview:
    """Returns the values of a tensor, without a copy if it is contiguous."""
    flat = tensor.detach().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().data


def from_bytes(tensor: torch.Tensor, data: bytes, operation: str) -> None:
    """Writes values into a tensor of the same size."""
    expected = tensor.numel() * tensor.element_size()
    if len(data) != expected:
        raise ArgumentError(
            f"{operation}: {len(data)} bytes arrived, expected {expected} for a tensor of {tensor.numel()} elements of "
            f"{tensor.dtype}; do all ranks pass tensors of the same shape and type?"
        )
    if data:
        values = torch.frombuffer(bytearray(data), dtype=tensor.dtype)
        tensor.detach().copy_(values.view(tensor.shape))


def to_floats(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the values as float32; the memory of a contiguous float32 tensor itself."""
    return tensor.detach().to(torch.float32).contiguous().reshape(-1)


def from_floats(tensor: torch.Tensor, floats: torch.Tensor) -> None:
    """Writes values back, unless they are in the tensor's own memory."""
    if floats.data_ptr() != tensor.data_ptr() or tensor.dtype != torch.float32:
        tensor.detach().copy_(floats.view(tensor.shape))
