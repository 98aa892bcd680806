"""A live session on standard input and standard output.

All available lines are processed together. A line that cannot be read, or whose sample is refused,
is reported, counted and left out, or ends the session if it is ``strict``. The signals SIGTERM and
SIGINT stop it cleanly.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bdl.errors import ConfigError, InputError
from bdl.live.line_formats import LineReader, Sample, short
from bdl.live.session import LiveSession

CHUNK = 1 << 16  # bytes
LONGEST_LINE = 1 << 20  # bytes


class LineErrors:
    """Counts lines that were left out; ``show`` is called with a message about each.

    A strict session ends at the first.
    """

    def __init__(self, *, strict: bool, show: Callable[[str], None]) -> None:
        self.strict, self.show = strict, show
        self.count = 0

    def add(self, line: int, error: InputError) -> None:
        """Count and report a line."""
        message = short(f"line {line}: {error}")
        if self.strict:
            raise InputError(message) from error
        self.count += 1
        self.show(f"{message}; left out")


def run(session: LiveSession, reader: LineReader, errors: LineErrors, source: int = 0) -> bool:
    """Run a session until its source ends or a signal is received; whether the source ended.

    ``source`` is the number of an open file; 0 is standard input.
    """
    with _stopping() as (wake, stopped):
        try:
            number = 1
            for lines in _lines(source, wake):
                push_lines(session, reader, errors, lines, number)
                number += len(lines)
                if stopped():
                    break
        except (InputError, ConfigError):
            session.stop()  # saves the state of the earlier samples
            raise
        if stopped():
            session.stop()
            return False
    session.finish()
    return True


def push_lines(
    session: LiveSession, reader: LineReader, errors: LineErrors, lines: list[bytes], first: int
) -> None:
    """Push the samples of some lines; ``first`` is the number of the first line."""
    samples: list[tuple[int, Sample]] = []
    for number, line in enumerate(lines, start=first):
        try:
            if len(line) > LONGEST_LINE:
                raise InputError(f"longer than {LONGEST_LINE:,} bytes")
            sample = reader.sample(line.decode())
        except UnicodeDecodeError as error:
            errors.add(number, InputError(f"not UTF-8: {error}"))
        except InputError as error:
            errors.add(number, error)
        else:
            samples += [] if sample is None else [(number, sample)]
    push_samples(session, errors, samples)


def push_samples(
    session: LiveSession, errors: LineErrors, samples: list[tuple[int, Sample]]
) -> None:
    """Push numbered samples together; one by one if they are refused."""
    try:
        session.push([sample for _, sample in samples])
    except InputError:
        for number, sample in samples:
            try:
                session.push([sample])
            except InputError as error:
                errors.add(number, error)


def _lines(source: int, wake: int) -> Iterator[list[bytes]]:
    """All available whole lines; ends with the source, or once ``wake`` is readable."""
    incomplete_line = b""
    while True:
        ready, _, _ = select.select([source, wake], [], [])
        if wake in ready:
            return
        chunk = os.read(source, CHUNK)
        if not chunk:
            if incomplete_line:
                yield [incomplete_line]
            return
        *lines, incomplete_line = (incomplete_line + chunk).split(b"\n")
        if len(incomplete_line) > LONGEST_LINE + CHUNK:
            # Enough to recognise that it is too long.
            incomplete_line = incomplete_line[: LONGEST_LINE + 1]
        if lines:
            yield lines


@contextmanager
def _stopping() -> Iterator[tuple[int, Callable[[], bool]]]:
    """A file that is readable after SIGTERM or SIGINT, and whether one was received."""
    received: list[int] = []
    wake, waker = os.pipe()
    os.set_blocking(waker, False)

    def stop(number: int, _: object) -> None:
        received.append(number)
        os.write(waker, b"x")

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield wake, lambda: bool(received)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(wake)
        os.close(waker)
