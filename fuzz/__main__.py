"""Run cases and write what came of them: `python -m fuzz --mutations 100000 --out FILE`."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import chain, pairwise
from pathlib import Path

from bdl.formats.atomic_files import atomic
from fuzz.attack import SECONDS, Case, attack
from fuzz.worker import MEMORY

OUTCOMES = ("refused", "read", "traceback", "crash", "hang", "memory", "wrong")
BAD = OUTCOMES[2:]
HEAD = """# Damaged files

Every reader, including those of the files that the package writes, was tested with mutations of
small valid files: bytes changed, cut, duplicated and moved, false numbers, nesting, hostile names.
A reader must either refuse a file with an error of this package, or return valid data: shapes as
claimed, no infinite value, finite times, and, if the format has checksums, the values that were
written. Each case is limited to {seconds:g} s of processor time and {memory} MiB of memory.

Among the targets are exported models, states of live sessions, messages of clients to `bdl serve`
and `bdl explore`, folders from which a fit or a detection resumes, and the run directory of a
finished study, which `bdl study verify` must refuse after any change. JSON is also mutated without
breaking its syntax.

Command: `{command}`. Measured {when}.

"""


def main() -> int:
    """Run, print each bad case, write the table; the exit code is 1 if there was any."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--mutations", type=int, default=100_000, help="number of cases")
    parser.add_argument("--seed", type=int, default=0, help="seed of the cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--target", action="append", default=[], help="name a target begins with")
    parser.add_argument("--keep", help="folder for the files of bad cases")
    parser.add_argument("--out", type=Path, help="file whose first section the table becomes")
    given = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    parts = [given.first + given.mutations * part // given.jobs for part in range(given.jobs + 1)]

    def run(part: tuple[int, int]) -> list[Case]:
        cases = []
        for case in attack(given.target, given.seed, *part, given.keep):
            cases.append(case)
            if case.outcome in BAD:
                _tell(case)
        return cases

    with ThreadPoolExecutor(given.jobs) as pool:
        for case in chain.from_iterable(pool.map(run, pairwise(parts))):
            counts.setdefault(case.target, Counter())[case.outcome] += 1
    text = table(counts)
    print(text)
    if given.out is not None:
        command = f"make fuzz MUTATIONS={given.mutations} SEED={given.seed}"
        head = HEAD.format(
            seconds=SECONDS,
            memory=MEMORY >> 20,
            command=command,
            when=f"{datetime.now(UTC):%Y-%m-%d}",
        )
        known = given.out.read_text() if given.out.exists() else ""
        _, mark, others = known.partition("\n## ")  # sections that follow are kept
        with atomic(given.out) as temporary:
            temporary.write_text(head + text + "\n" + mark + others)
    return int(any(counter[bad] for counter in counts.values() for bad in BAD))


def table(counts: dict[str, Counter[str]]) -> str:
    """Counts by target and outcome, and their sums.

    >>> print(table({"store": Counter(refused=3, read=1)}).splitlines()[2])
    | store | 4 | 3 | 1 | 0 | 0 | 0 | 0 | 0 |
    """
    head = "| target | cases | refused | read | tracebacks | crashes | hangs | memory | wrong |"
    rows = [head, "|---|" + "---:|" * 8]
    total: Counter[str] = Counter()
    for name, counter in sorted(counts.items()):
        rows.append(_row(name, counter))
        total += counter
    return "\n".join([*rows, _row("**all**", total)])


def _row(name: str, counter: Counter[str]) -> str:
    return (
        " | ".join(
            [
                f"| {name}",
                f"{counter.total():,}",
                *(f"{counter[outcome]:,}" for outcome in OUTCOMES),
            ]
        )
        + " |"
    )


def _tell(case: Case) -> None:
    print(f"case {case.number}, {case.target}: {case.outcome}\n{case.detail}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
