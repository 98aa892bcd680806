"""Review of labels: a ranked queue of doubtful places, and agreement of annotators.

`review` compares labels with the densities or detections of a model, `disagreements` two tables of
labels with each other. Both return a `ReviewQueue`, which `bdl explore` shows item by item.
`agreement` measures how well two or more tables agree.
"""

from __future__ import annotations

from bdl.review.agreement import Agreement, agreement, disagreements
from bdl.review.contradictions import review
from bdl.review.queue import KINDS, Item, ReviewQueue

__all__ = ["KINDS", "Agreement", "Item", "ReviewQueue", "agreement", "disagreements", "review"]
