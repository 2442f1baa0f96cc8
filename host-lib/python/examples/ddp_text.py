"""Trains a transformer of a million parameters, data-parallel, on English text.

    torchrun --nproc-per-node 4 host-lib/python/examples/ddp_text.py
    torchrun --nproc-per-node 4 host-lib/python/examples/ddp_text.py --backend gloo
"""

import argparse
import gzip
import pathlib
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import optireduce.torch

TEXT = pathlib.Path(__file__).resolve().parent / "data" / "text.txt.gz"
CONTEXT, WIDTH, LAYERS = 64, 128, 5


def text() -> tuple[torch.Tensor, int]:
    """Returns the text as indices of characters, and the number of different characters."""
    bytes_ = torch.frombuffer(bytearray(gzip.decompress(TEXT.read_bytes())), dtype=torch.uint8)
    known, numbers = bytes_.unique(return_inverse=True)
    return numbers, len(known)


class Transformer(nn.Module):
    def __init__(self, characters: int) -> None:
        super().__init__()
        self.embed, self.place = nn.Embedding(characters, WIDTH), nn.Parameter(torch.zeros(CONTEXT, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
        self.layers, self.out = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False), nn.Linear(WIDTH, characters)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(CONTEXT), persistent=False)

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        return self.out(self.layers(self.embed(given) + self.place, mask=self.mask, is_causal=True))


def loss_of(model: nn.Module, numbers: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
    """Returns the loss of each next character in the passages that begin at `starts`."""
    passages = numbers[starts[:, None] + torch.arange(CONTEXT + 1)]
    return nn.functional.cross_entropy(model(passages[:, :-1]).flatten(0, 1), passages[:, 1:].flatten())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--backend", default="optireduce", help="optireduce or gloo (default: %(default)s)")
    arguments.add_argument("--steps", type=int, default=200, help="optimizer steps (default: %(default)s)")
    args = arguments.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dist.init_process_group(args.backend)
    numbers, characters = text()
    model = DistributedDataParallel(Transformer(characters))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    state = None
    if args.backend == "optireduce":
        state = optireduce.torch.State()
        model.register_comm_hook(state, optireduce.torch.comm_hook)
        state.guard(optimizer)
    passages = torch.Generator().manual_seed(dist.get_rank())
    begin = time.perf_counter()
    for step in range(1, args.steps + 1):
        optimizer.zero_grad()
        (loss := loss_of(model, numbers, torch.randint(len(numbers) - CONTEXT, (8,), generator=passages))).backward()
        optimizer.step()
        if dist.get_rank() == 0 and step % 20 == 0:
            print(f"step {step}: loss {loss.item():.2f} after {time.perf_counter() - begin:.1f} s", state.report() if state else "")
    if state is not None:
        state.settle(optimizer)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
