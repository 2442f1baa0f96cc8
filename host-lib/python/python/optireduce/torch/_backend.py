"""The backend "optireduce" of torch.distributed.

Gradients are bounded: float sums and means of many elements in a backward pass. All other calls go
over TCP and are exact.
"""

import logging
from collections import Counter
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import Backend

from .. import ArgumentError, OptiReduceError, Report
from . import _bootstrap, _settings
from ._replicas import Unhooked
from ._session import Session
from ._tensors import BOUNDED_TYPES, EXACT_TYPES, check, flat, from_bytes, to_bytes, write_back
from ._transfer import Transfer
from ._work import Work, seconds_of

log = logging.getLogger("optireduce")

Tensors = list[torch.Tensor]

OPS = {"SUM": "sum", "AVG": "avg", "PRODUCT": "product", "MIN": "min", "MAX": "max", "BAND": "and", "BOR": "or", "BXOR": "xor"}
# On booleans as 0 and 1.
BOOL_OPS = {"sum": "max", "product": "min", "avg": "max", "and": "and", "or": "or", "xor": "xor", "min": "min", "max": "max"}
#: Bounded all-reduces of one length between two optimizer steps. Further ones are not gradients.
OCCURRENCES_MAX = 256


class OptiReduceBackend(Backend):
    """Calls of one process group."""

    def __init__(self, store: Any, rank: int, size: int, timeout: timedelta, name: str) -> None:
        try:
            super().__init__(rank, size)
        except TypeError as error:
            found = f"torch {torch.__version__}, which does not support backends in Python"
            raise OptiReduceError(f"{found}; expected 2.15 or later, or optireduce.torch.comm_hook on another backend") from error
        shares = _bootstrap.over_store(store, rank, size, timeout)
        self.session = Session(_bootstrap.connect(rank, size, timeout, shares, store), name, _settings.engine_of({}))
        self._occurrences: Counter[Any] = Counter()
        self._replicas = Unhooked(self.session, _settings.synchronize_every())
        self.session.replicas.add(self._replicas)

    # torch reads these. Looking up a missing one would recurse without end.
    supports_coalescing = supports_splitting = supports_shrinking = supports_reconfigure = supports_window = False

    def getBackendName(self) -> str:
        return "optireduce"

    def begin_step(self, optimizer: Any) -> None:
        """Restarts the count of all-reduces after an optimizer step, and compares the replicas in
        time."""
        self._occurrences.clear()
        self._replicas.step(optimizer)

    def _work(self, name: str, tensors: Tensors, opts: Any) -> Work:
        """Returns the work of a call, with the timeout of its options."""
        return Work(name, tensors, None if opts is None else seconds_of(opts.timeout))

    def _exact(self, name: str, tensors: Tensors, opts: Any, start: Any, finish: Any) -> Work:
        """Makes an exact call: `start` starts it, and `finish` receives its result."""
        check(tensors, self.session.describe(name))
        return self.session.submit(self._work(name, tensors, opts), start, finish)

    def _op(self, name: str, tensor: torch.Tensor, reduce_op: Any) -> str:
        op, found = OPS.get(reduce_op.op.name), f"{reduce_op.op.name} of {tensor.dtype}"
        if op is None or tensor.dtype not in EXACT_TYPES:
            expected = "SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR or BXOR of a float or integer type"
            raise ArgumentError(f"{self.session.describe(name)}: {found}, expected {expected}")
        return BOOL_OPS[op] if tensor.dtype == torch.bool else op

    def _is_bounded(self, tensor: torch.Tensor, op: str) -> bool:
        is_gradient = tensor.dtype in BOUNDED_TYPES and tensor.numel() >= _settings.BOUNDED_ELEMENTS_MIN
        return is_gradient and op in ("sum", "avg") and _settings.is_bounded()

    def allreduce(self, tensors: Tensors, opts: Any) -> Work:
        (tensor,) = tensors
        name = f"all_reduce of {tensor.numel()} elements of {tensor.dtype}"
        op = self._op(name, tensor, opts.reduceOp)
        check(tensors, self.session.describe(name))
        if tensor.is_floating_point() and op in ("sum", "avg") and _settings.is_bounded():
            self._replicas.count(tensor)
        if self._is_bounded(tensor, op):
            kind = (tensor.numel(), tensor.dtype, op)
            occurrence = self._occurrences[kind]
            self._occurrences[kind] += 1
            if occurrence < OCCURRENCES_MAX:

                def note(report: Report, halts: bool) -> None:
                    self._replicas.note(report)
                    self.session.halt_if(report, halts, self.session.describe(name))

                work = self._work(name, tensors, opts)
                return self.session.all_reduce(work, tensor, op, ("all_reduce", *kind, occurrence), note)
            if occurrence == OCCURRENCES_MAX:
                log.warning(
                    "%s: called %d times since the last optimizer step, exact from now on; if these are gradients, call "
                    "optireduce.torch.begin_step() after each update",
                    self.session.describe(name),
                    OCCURRENCES_MAX,
                )
        return self._all_reduce_exact(name, tensor, op, opts)

    def allreduce_sparse(self, tensors: Tensors, opts: Any) -> Work:
        check(tensors, self.session.describe("all_reduce"))
        return self.allreduce(tensors, opts)

    def _all_reduce_exact(self, name: str, tensor: torch.Tensor, op: str, opts: Any, is_wanted: bool = True) -> Work:
        check([tensor], self.session.describe(name))
        values = flat(tensor) if is_wanted else flat(tensor).clone()
        start = lambda: self.session.calls.exact.all_reduce(values, op, async_op=True)  # noqa: E731
        finish = lambda _: write_back(tensor, values) if is_wanted else None  # noqa: E731
        return self.session.submit(self._work(name, [tensor], opts), start, finish)

    def reduce(self, tensors: Tensors, opts: Any) -> Work:
        (tensor,) = tensors
        name = f"reduce to rank {opts.rootRank} of {tensor.numel()} elements of {tensor.dtype}"
        op = self._op(name, tensor, opts.reduceOp)
        return self._all_reduce_exact(name, tensor, op, opts, is_wanted=opts.rootRank == self.session.rank)

    def broadcast(self, tensors: Tensors, opts: Any) -> Work:
        (tensor,) = tensors
        name = f"broadcast from rank {opts.rootRank} of {tensor.numel()} elements of {tensor.dtype}"
        check(tensors, self.session.describe(name))
        return self.session.broadcast(self._work(name, tensors, opts), tensor, opts.rootRank)

    def barrier(self, opts: Any = None) -> Work:
        return self._exact("barrier", [], opts, lambda: self.session.calls.barrier(async_op=True), lambda _: None)

    def monitored_barrier(self, opts: Any, wait_all_ranks: bool = False) -> None:
        self.barrier(opts).wait()

    def allgather(self, outputs: list[Tensors], inputs: Tensors, opts: Any) -> Work:
        ((tensor,), (into,)) = (inputs, outputs)
        name = f"all_gather of {tensor.numel()} elements of {tensor.dtype}"
        return self._all_gather(name, tensor, into, opts)

    def all_gather_single(self, output: torch.Tensor, tensor: torch.Tensor, opts: Any) -> Work:
        name = f"all_gather_into_tensor of {tensor.numel()} elements of {tensor.dtype}"
        if output.numel() != tensor.numel() * self.session.size or not output.is_contiguous():
            raise ArgumentError(
                f"{self.session.describe(name)}: the output has {output.numel()} elements, expected {tensor.numel()} for each of "
                f"{self.session.size} ranks, contiguous"
            )
        return self._all_gather(name, tensor, list(output.view(-1).chunk(self.session.size)) if tensor.numel() else [], opts)

    def _all_gather(self, name: str, tensor: torch.Tensor, into: Tensors, opts: Any) -> Work:
        def finish(parts: list[bytes]) -> None:
            for one, part in zip(into, parts):
                from_bytes(one, part, name)

        start = lambda: self.session.calls.exact.all_gather(to_bytes(tensor), async_op=True)  # noqa: E731
        return self._exact(name, [tensor, *into], opts, start, finish)

    def gather(self, outputs: list[Tensors], inputs: Tensors, opts: Any) -> Work:
        (tensor,) = inputs
        into = outputs[0] if opts.rootRank == self.session.rank else []
        name = f"gather to rank {opts.rootRank} of {tensor.numel()} elements of {tensor.dtype}"

        def finish(parts: list[bytes]) -> None:
            for one, part in zip(into, parts):
                from_bytes(one, part, name)

        start = lambda: self.session.calls.exact.gather(to_bytes(tensor), opts.rootRank, async_op=True)  # noqa: E731
        return self._exact(name, [tensor, *into], opts, start, finish)

    def scatter(self, outputs: Tensors, inputs: list[Tensors], opts: Any) -> Work:
        (output,) = outputs
        parts = inputs[0] if opts.rootRank == self.session.rank else []
        name = f"scatter from rank {opts.rootRank} of {output.numel()} elements of {output.dtype}"
        start = lambda: self.session.calls.exact.scatter([to_bytes(part) for part in parts], opts.rootRank, async_op=True)  # noqa: E731
        return self._exact(name, [output, *parts], opts, start, lambda result: from_bytes(output, result, name))

    def reduce_scatter(self, outputs: Tensors, inputs: list[Tensors], opts: Any) -> Work:
        ((output,), (parts,)) = (outputs, inputs)
        if any(part.numel() != output.numel() for part in parts):
            lengths = [part.numel() for part in parts]
            raise ArgumentError(
                f"{self.session.describe('reduce_scatter')}: parts of {lengths} elements, expected {output.numel()} each"
            )
        return self.reduce_scatter_single(output, torch.cat([part.reshape(-1) for part in parts]), opts)

    def reduce_scatter_single(self, output: torch.Tensor, tensor: torch.Tensor, opts: Any) -> Work:
        name = f"reduce_scatter of {tensor.numel()} elements of {tensor.dtype}"
        op = self._op(name, tensor, opts.reduceOp)
        check([output, tensor], self.session.describe(name))
        if tensor.numel() != output.numel() * self.session.size:
            raise ArgumentError(
                f"{self.session.describe(name)}: the output has {output.numel()} elements, expected the input's divided by "
                f"{self.session.size} ranks"
            )
        return self.session.reduce_scatter(self._work(name, [output], opts), output, tensor, op, self._is_bounded(tensor, op))

    def alltoall(self, outputs: Tensors, inputs: Tensors, opts: Any) -> Work:
        name = f"all_to_all of {sum(one.numel() for one in inputs)} elements"

        def finish(parts: list[bytes]) -> None:
            for one, part in zip(outputs, parts):
                from_bytes(one, part, name)

        start = lambda: self.session.calls.exact.all_to_all([to_bytes(part) for part in inputs], async_op=True)  # noqa: E731
        return self._exact(name, [*outputs, *inputs], opts, start, finish)

    def all_to_all_single(
        self, output: torch.Tensor, tensor: torch.Tensor, into: list[int], outof: list[int], opts: Any
    ) -> Work:
        size = self.session.size

        def cut(whole: torch.Tensor, lengths: list[int], what: str) -> Tensors:
            rows = whole.shape[0] if whole.dim() else 0
            lengths = lengths or [rows // size] * size
            if len(lengths) != size or sum(lengths) != rows:
                raise ArgumentError(
                    f"{self.session.describe('all_to_all_single')}: the {what} has {rows} rows, in parts of {lengths}; expected "
                    f"a part for each of {size} ranks"
                )
            return list(whole.split(lengths))

        return self.alltoall(cut(output, into, "output"), cut(tensor, outof, "input"), opts)

    def _all(self, name: str, works: list[Work]) -> Work:
        """Returns a work that ends with the last of these works."""

        def finish(_: Any) -> None:
            for work in works:
                work.wait()

        tensors = [tensor for work in works for tensor in work.tensors]
        return self.session.submit(Work(name, tensors), lambda: None, finish)

    def allreduce_coalesced(self, tensors: Tensors, opts: Any) -> Work:
        return self._all("all_reduce_coalesced", [self.allreduce([tensor], opts) for tensor in tensors])

    def allgather_coalesced(self, outputs: list[Tensors], inputs: Tensors, opts: Any) -> Work:
        # `outputs` has a list of tensors for each rank.
        columns = [self.allgather([list(into)], [tensor], opts) for into, tensor in zip(zip(*outputs), inputs)]
        return self._all("all_gather_coalesced", columns)

    def all_gather_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any) -> Work:
        works = [self.all_gather_single(output, tensor, opts) for output, tensor in zip(outputs, inputs)]
        return self._all("all_gather_into_tensor_coalesced", works)

    def reduce_scatter_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any) -> Work:
        works = [self.reduce_scatter_single(output, tensor, opts) for output, tensor in zip(outputs, inputs)]
        return self._all("reduce_scatter_tensor_coalesced", works)

    def send(self, tensors: Tensors, to: int, tag: int) -> Work:
        (tensor,) = tensors
        name = f"send to rank {to} of {tensor.numel()} elements of {tensor.dtype}"
        check(tensors, self.session.describe(name))
        self.session.check(name)
        request = self.session.calls.send(to_bytes(tensor), to, tag, async_op=True)
        return Transfer(name, tensor, request, self.session.run, receives=False)

    def recv(self, tensors: Tensors, source: int, tag: int) -> Work:
        (tensor,) = tensors
        name = f"receive from rank {source} of {tensor.numel()} elements of {tensor.dtype}"
        check(tensors, self.session.describe(name))
        self.session.check(name)
        request = self.session.calls.recv(source, tag, async_op=True)
        return Transfer(name, tensor, request, self.session.run, receives=True)

    def recv_anysource(self, tensors: Tensors, tag: int) -> Work:
        # torch does not ask backends in Python which rank has sent.
        raise ArgumentError(f"{self.session.describe('receive')}: from any rank, expected a rank; give recv a src")

    def shutdown(self) -> None:
        if self.session.is_open():
            self._replicas.end()
        self.session.close()

    def abort(self) -> None:
        self.session.abort()
