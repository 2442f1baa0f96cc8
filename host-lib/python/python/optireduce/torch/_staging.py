"""Gradients on a GPU, copied through pinned memory. CI has no GPU: see tests/test_gpu.py."""

import torch

from ._work import Work


class Staged:
    """A gradient staged in host memory. A separate stream copies it during the backward pass."""

    _streams: dict[torch.device, torch.cuda.Stream] = {}

    def __init__(self, name: str, tensor: torch.Tensor) -> None:
        device = tensor.device
        stream = self._streams.setdefault(device, torch.cuda.Stream(device))
        stream.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(stream):
            self.host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
            self.host.copy_(tensor, non_blocking=True)
            tensor.record_stream(stream)
            arrived = torch.cuda.Event()
            arrived.record(stream)
        self.future: torch.futures.Future[torch.Tensor] = torch.futures.Future(devices=[device])
        self.work = _StagedWork(name, self.host, arrived)

        def back(_: torch.futures.Future[list[torch.Tensor]]) -> None:
            try:
                self.work.wait()
                with torch.cuda.stream(stream):
                    tensor.copy_(self.host, non_blocking=True)
                    self.future.set_result(tensor)
            except BaseException as error:
                self.future.set_exception(error)  # type: ignore[arg-type]  # torch says that it takes a value

        self.work.get_future().add_done_callback(back)


class _StagedWork(Work):
    """A collective of a tensor that must first arrive in host memory."""

    def __init__(self, name: str, host: torch.Tensor, arrived: torch.cuda.Event) -> None:
        super().__init__(name, [host])
        self._arrived = arrived

    def prepare(self) -> None:
        self._arrived.synchronize()
