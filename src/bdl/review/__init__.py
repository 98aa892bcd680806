"""Which labels to look at again: doubtful places as a ranked queue, and agreement of annotators.

`review` compares labels with the densities or detections of a model, `agreement` two or more tables
of labels with each other. Both give a `ReviewQueue`, which `bdl explore` walks through.
"""

from __future__ import annotations

from bdl.review.agreement import Agreement, agreement, disagreements
from bdl.review.contradictions import review
from bdl.review.queue import KINDS, Item, ReviewQueue

__all__ = ["KINDS", "Agreement", "Item", "ReviewQueue", "agreement", "disagreements", "review"]
