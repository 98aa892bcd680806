"""Limits on the contents of files, which all readers share.

Memory and time are bounded by the length of the file that was opened, not by the numbers in it.
A compressed file may hold `EXPANSION` times its own length, or `SMALL` bytes if that is more.
"""

from __future__ import annotations

from bdl.errors import InputError

CHANNELS = 10_000  # of one recording, or columns of a table; an EDF file has 9,999 at most
SAMPLES = 1 << 48  # of one recording: nine thousand years at 1,000 Hz
PERIODS = (1e-12, 1e12)  # seconds between two samples, least and most
NAME = 1_000  # characters of the name of a recording, channel, group or event type
NESTING = 40  # levels of lists and mappings in JSON and YAML
VALUES = 1_000_000  # texts and numbers in a YAML document, repeated parts counted each time
EXPANSION = 200
SMALL = 64 << 20  # bytes


def check_name(name: object, what: str) -> None:
    """Raise an error unless a name is a text that can be written to a file.

    ``what`` is what it names, such as ``a recording's id``, for messages.

    Examples
    --------
    >>> check_name(["a"], "a recording's group")
    Traceback (most recent call last):
    bdl.errors.InputError: a recording's group: a text expected, got ['a']
    """
    if not isinstance(name, str):
        raise InputError(f"{what}: a text expected, got {name!r:.60}")
    if len(name) > NAME:
        raise InputError(f"{what}: at most {NAME:,} characters expected, got {len(name):,}")
    if not name.isascii():
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"{what}: {name!r} is not valid Unicode; is a file named in another encoding?"
            ) from None


def check_channels(count: int, where: object) -> None:
    """Raise an error if the file ``where`` declares more channels, or columns, than the limit.

    Examples
    --------
    >>> check_channels(2**31, "a.npz")
    Traceback (most recent call last):
    bdl.errors.InputError: a.npz: 2,147,483,648 columns; at most 10,000 expected
    """
    if count > CHANNELS:
        raise InputError(
            f"{where}: {count:,} columns; at most {CHANNELS:,} expected: is the file damaged, or "
            "are rows and columns exchanged?"
        )


def check_expansion(claimed: int, held: int, where: object) -> None:
    """Raise an error if the values of the file ``where`` would take far more than its own bytes.

    Examples
    --------
    >>> check_expansion(10**12, 217, "a.npz")
    Traceback (most recent call last):
    bdl.errors.InputError: a.npz: its 217 bytes claim to hold 1,000,000,000,000 ...
    """
    if claimed > max(SMALL, EXPANSION * held):
        raise InputError(
            f"{where}: its {held:,} bytes claim to hold {claimed:,} bytes of values, more than "
            f"{EXPANSION} times as many; if the file is not damaged, write it uncompressed or in "
            "parts"
        )
