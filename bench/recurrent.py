"""The fused recurrent layers compared with torch's, on one thread and on two; memory.

Both run in one process with the same allocator settings, so that the ratio is that of the
recurrence alone; the settings have separate rows, each measured in a separate process. The limit is
the arithmetic of the layer at the speed of a large matrix product plus its memory traffic at the
speed of a large copy, both measured in the same run.

    python -m bench.recurrent
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from time import perf_counter, process_time

import torch
from torch import nn

from bdl.encoders import Encoder
from bdl.encoders.allocator import keep_buffers
from bdl.encoders.fused.recurrent_layers import FusedGRU, FusedLSTM
from bdl.encoders.fused.setting import use_fused
from bench.processes import child_json, peak_memory
from bench.row import Row, table

KINDS = {"gru": (FusedGRU, nn.GRU, 3), "lstm": (FusedLSTM, nn.LSTM, 4)}
WORK = [  # cell, batch, bins, width, whether backward too, goal of the ratio
    ("gru", 32, 12_096, 32, True, 5),
    ("gru", 8, 12_096, 32, True, 10),
    ("gru", 8, 3_600, 128, True, 3),
    ("gru", 8, 12_096, 32, False, 8),
    ("gru", 1, 46_000, 32, False, 8),
    ("lstm", 8, 12_096, 32, True, None),
]


def timed(work: Callable[[], object], repeats: int) -> list[float]:
    """Seconds of each run.

    On one thread processor time is measured, which other programs affect less.
    """
    clock = process_time if torch.get_num_threads() == 1 else perf_counter
    times = []
    for _ in range(repeats):
        begin = clock()
        work()
        times.append(clock() - begin)
    return times


def speeds() -> tuple[float, float]:
    """Operations per second of a large product, bytes per second of a large copy."""
    a = torch.randn(1536, 1536)
    b = torch.empty(32 * 2**20)
    c = torch.ones_like(b)
    product, copy = min(timed(lambda: a @ a, 6)), min(timed(lambda: b.copy_(c), 6))
    return 2 * 1536**3 / product, 8 * b.numel() / copy


def limit(gates: int, batch: int, bins: int, width: int, backward: bool) -> float:
    """Seconds of the layer's arithmetic and memory traffic at those speeds."""
    operations, copied = speeds()
    rows = 2 * batch * bins
    ways = 3 if backward else 1
    work = ways * 2 * rows * gates * width * 2 * width
    # Forward: inputs in, gates out and in, outputs out. Backward: gates kept, read, their
    # gradients written and read twice; outputs, their gradients and one more number per unit.
    numbers = rows * width * (0.5 + 2 * gates + 1 + ((4 * gates + 6) if backward else 0))
    return work / operations + 4 * numbers / copied


def pair(cell: str, batch: int, bins: int, width: int, backward: bool) -> tuple[float, float]:
    """Seconds of ours and of torch's, the same weights and inputs, results compared."""
    torch.manual_seed(0)
    ours, torchs = (k(width, width, batch_first=True, bidirectional=True) for k in KINDS[cell][:2])
    torchs.load_state_dict(ours.state_dict())
    x = torch.randn(batch, bins, width, requires_grad=backward)
    ones = torch.ones(batch, bins, 2 * width)

    def work(module: nn.RNNBase) -> torch.Tensor:
        with torch.set_grad_enabled(backward):
            y: torch.Tensor = module(x)[0]
            if backward:
                torch.autograd.backward(y, ones)
        return y.detach()

    results: list[torch.Tensor] = []
    plain = min(timed(lambda: results.append(work(torchs)), 1))
    fast = min(timed(lambda: results.append(work(ours)), 5))
    difference = (results[0] - results[-1]).abs().max().item()
    if difference > 1e-5:
        raise AssertionError(f"fused {cell} is {difference} away from torch's")
    return fast, plain


def layers() -> list[Row]:
    """Every piece of work on one thread and on two."""
    keep_buffers()
    rows = []
    for threads in (1, 2)[: os.cpu_count() or 1]:
        torch.set_num_threads(threads)
        for cell, batch, bins, width, backward, goal in WORK:
            ours, plain = pair(cell, batch, bins, width, backward)
            way = "forward + backward" if backward else "forward"
            note = "" if goal is None else f"goal: at least {goal}"
            if not backward:
                hours = batch * bins * 50 / 3600 / ours
                note = f"{note}; {hours:,.0f} h of 50 s bins per second".lstrip("; ")
            rows.append(
                Row(
                    f"{cell} {way}, {batch} x {bins:,} x width {width}, threads {threads}",
                    ours,
                    plain,
                    limit(KINDS[cell][2], batch, bins, width, backward),
                    note=note,
                )
            )
    return rows


def step(encoder: str, batch: int, fused: bool, keep: bool) -> tuple[float, int, float]:
    """Seconds and page faults of a training step, peak MiB of the process."""
    if keep:
        keep_buffers()
    torch.manual_seed(0)
    use_fused(fused)
    module = Encoder.parse(encoder).build(8, 2, True)
    steps = torch.optim.Adam(module.parameters())
    values, calendar = torch.randn(batch, 12_096, 8), torch.zeros(batch, 12_096, dtype=torch.int64)
    times, faults = [], []
    for _ in range(4 if fused else 1):
        before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, perf_counter()
        steps.zero_grad()
        module(values, calendar, calendar).square().mean().backward()
        steps.step()
        times.append(perf_counter() - begin)
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    return min(times[1:] or times), faults[-1], peak_memory() / 2**20


def alone(encoder: str, batch: int, fused: bool, keep: bool) -> tuple[float, int, float]:
    """`step` in a separate process: settings of the allocator cannot be undone."""
    arguments = json.dumps([encoder, batch, fused, keep])
    seconds, faults, memory = child_json("bench.recurrent", arguments)
    return seconds, faults, memory


def allocations() -> list[Row]:
    """Training steps with and without reused buffers, and peak memory compared with torch's."""
    rows = []
    for encoder, batch in (("gru", 32), ("unet", 8)):
        reused, returned = (alone(encoder, batch, True, keep) for keep in (True, False))
        note = f"page faults per step: {reused[1]:,} instead of {returned[1]:,}"
        name = f"{encoder} training step, batch {batch}, reused buffers"
        rows.append(Row(name, reused[0], returned[0], note=note))
    ours, torchs = (alone("gru", 8, fused, False) for fused in (True, False))
    rows.append(Row("gru training step, batch 8, whole encoder", ours[0], torchs[0]))
    rows.append(Row("the same, peak memory of the process", ours[2], torchs[2], unit="MiB"))
    return rows


def run() -> list[Row]:
    """All rows."""
    return layers() + allocations()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps(step(*json.loads(sys.argv[1]))))
    else:
        print(table(run()))
