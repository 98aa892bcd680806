"""Event formats: each is one class in one file of this package (see `bdl.registry`).

Examples
--------
>>> from bdl.formats.events import EventFormat
>>> EventFormat.names()[:5]
('audacity', 'bdl', 'bids', 'dcase', 'edf')
>>> EventFormat.names()[5:9]
('kaggle', 'label-studio', 'seizures', 'wfdb')
"""

from __future__ import annotations

from bdl.formats.events.event_format import EventFormat
from bdl.registry import exports

__all__ = ["EventFormat"]

__getattr__, __dir__ = exports(EventFormat)
