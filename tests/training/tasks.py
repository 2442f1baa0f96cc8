"""Small networks to train: their data, batches and tests.

Data and hyperparameters are those of the examples in host-lib/python/examples.
"""

import pathlib
import sys
from collections.abc import Iterator
from typing import Protocol

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "host-lib" / "python" / "examples"))

import ddp_text  # noqa: E402
from ddp_digits import digits, network_of  # noqa: E402

nn = torch.nn
Batch = tuple[torch.Tensor, torch.Tensor]


class Task(Protocol):
    """A network and its data."""

    module: nn.Module
    #: Steps between two points of a curve.
    STEPS_PER_POINT: int

    def optimizer(self, parameters: Iterator[nn.Parameter]) -> torch.optim.Optimizer: ...

    def batches(self, epochs: int, rank: int, ranks: int) -> Iterator[Batch]:
        """Yields batches of one rank: inputs and expected outputs."""
        ...

    def loss(self, model: nn.Module, batch: Batch) -> torch.Tensor: ...

    def judge(self) -> tuple[float, float]:
        """Loss and accuracy of the network on the test data."""
        ...


#: Images of digits in the training data; the others are for testing.
TRAINED_IMAGES = 1440
#: Elements of the inner layers of "wide".
WIDTH = 2560


def judge(output: torch.Tensor, expected: torch.Tensor) -> tuple[float, float]:
    """Loss and accuracy of a network's outputs."""
    return nn.functional.cross_entropy(output, expected).item(), (output.argmax(1) == expected).float().mean().item()


def wide() -> tuple[nn.Module, float]:
    """A network with two inner layers of 25 MiB of gradients, DDP's default size of a bucket."""
    layers = [nn.Linear(64, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10)]
    return nn.Sequential(*layers), 0.01


class Digits:
    """Handwritten digits, 8x8 pixels. Models: "mlp", "conv", "wide"."""

    PER_RANK, STEPS_PER_POINT = 32, 3

    def __init__(self, model: str) -> None:
        self._images, self._labels = digits()
        order = torch.randperm(len(self._images))
        self._train, self._test = order[:TRAINED_IMAGES], order[TRAINED_IMAGES:]
        self.module, self._rate = wide() if model == "wide" else network_of(model)

    def optimizer(self, parameters: Iterator[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.SGD(parameters, lr=self._rate, momentum=0.9)

    def batches(self, epochs: int, rank: int, ranks: int) -> Iterator[Batch]:
        for _ in range(epochs):
            for batch in self._train[torch.randperm(len(self._train))].split(self.PER_RANK * ranks):
                mine = batch[rank::ranks]
                yield self._images[mine], self._labels[mine]

    def loss(self, model: nn.Module, batch: Batch) -> torch.Tensor:
        images, labels = batch
        return nn.functional.cross_entropy(model(images), labels)

    def judge(self) -> tuple[float, float]:
        with torch.no_grad():
            return judge(self.module(self._images[self._test]), self._labels[self._test])


class Text:
    """English text, and a transformer of a million parameters. Model: "text"."""

    #: Share of the text for testing (its end), passages of it, a rank's passages in a step, and
    #: steps in an epoch.
    TESTED_SHARE, TESTED, PER_RANK, STEPS = 0.1, 64, 4, 20
    #: A test takes as long as five steps.
    STEPS_PER_POINT = 10

    def __init__(self) -> None:
        numbers, characters = ddp_text.text()
        cut = int(len(numbers) * (1 - self.TESTED_SHARE))
        self._train, test = numbers[:cut], numbers[cut:]
        self._test = self._passages(test, torch.linspace(0, len(test) - ddp_text.CONTEXT - 1, self.TESTED).long())
        self.module = ddp_text.Transformer(characters)

    @staticmethod
    def _passages(numbers: torch.Tensor, starts: torch.Tensor) -> Batch:
        passages = numbers[starts[:, None] + torch.arange(ddp_text.CONTEXT + 1)]
        return passages[:, :-1], passages[:, 1:]

    def optimizer(self, parameters: Iterator[nn.Parameter]) -> torch.optim.Optimizer:
        return torch.optim.AdamW(parameters, lr=1e-3)

    def batches(self, epochs: int, rank: int, ranks: int) -> Iterator[Batch]:
        for _ in range(epochs * self.STEPS):
            starts = torch.randint(len(self._train) - ddp_text.CONTEXT, (self.PER_RANK * ranks,))
            yield self._passages(self._train, starts[rank::ranks])

    def loss(self, model: nn.Module, batch: Batch) -> torch.Tensor:
        given, expected = batch
        return nn.functional.cross_entropy(model(given).flatten(0, 1), expected.flatten())

    def judge(self) -> tuple[float, float]:
        given, expected = self._test
        with torch.no_grad():
            return judge(self.module(given).flatten(0, 1), expected.flatten())


def task(model: str) -> Task:
    """Returns a network by name, with weights from torch's seed."""
    return Text() if model == "text" else Digits(model)
