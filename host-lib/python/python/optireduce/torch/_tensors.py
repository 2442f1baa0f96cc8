"""Conversion of tensors to bytes and arrays, and back."""

from collections.abc import Sequence

import torch

from .. import ArgumentError

#: Types that bounded reductions convert to float32.
BOUNDED_TYPES = (torch.float32, torch.bfloat16, torch.float16)

#: Types of exact reductions.
EXACT_TYPES = (
    *BOUNDED_TYPES, torch.float64, torch.bool,
    torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64, torch.uint64,
)  # fmt: skip


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
    if tensor.dtype not in EXACT_TYPES or not tensor.dtype.is_floating_point:
        raise ArgumentError(f"{operation}: gradients are of {tensor.dtype}, expected float16, bfloat16, float32 or float64")


def to_bytes(tensor: torch.Tensor) -> memoryview:
    """Returns the values of a tensor, without a copy if it is contiguous."""
    return flat(tensor).view(torch.uint8).numpy().data


def flat(tensor: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Returns the values of a tensor in one dimension, of another type if given: its own memory if it
    is contiguous and of that type."""
    return tensor.detach().to(dtype or tensor.dtype).contiguous().reshape(-1)


def write_back(tensor: torch.Tensor, values: torch.Tensor) -> None:
    """Writes values to a tensor, unless they are in its own memory."""
    if values.data_ptr() != tensor.data_ptr() or values.dtype != tensor.dtype:
        tensor.detach().copy_(values.view(tensor.shape))


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
