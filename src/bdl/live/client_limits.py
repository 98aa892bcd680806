"""Limits of the clients of a service."""

from __future__ import annotations

from pydantic import PositiveFloat, PositiveInt

from bdl.config import Value


class Limits(Value):
    """Limits of the clients of a service.

    Parameters
    ----------
    sessions
        Sessions at a time, including those that wait for their client.
    message
        Bytes per message.
    rate
        Samples per second and session, on average over ten seconds.
    waiting
        Seconds that a session waits for its client to reconnect.
    unconfirmed
        Unconfirmed detections that a session stores for its client.

    Examples
    --------
    >>> Limits(sessions=100).waiting
    600.0
    """

    sessions: PositiveInt = 5_000
    message: PositiveInt = 1 << 20
    rate: PositiveFloat = 10_000.0
    waiting: PositiveFloat = 600.0
    unconfirmed: PositiveInt = 10_000
