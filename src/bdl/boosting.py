"""Gradient-boosted trees: fitted by LightGBM, kept as plain arrays, applied by compiled code.

A fitted ensemble is a handful of arrays, so that a model file holds numbers only and detecting
needs no LightGBM. The sum over the trees is the raw score: the logarithm of the rate for the
Poisson loss, the logit for the Bernoulli loss.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Floats, Ints, Singles
from bdl.compiled import compiled
from bdl.errors import InputError, require

TreeLoss = Literal["poisson", "bernoulli"]
LEAF = -1
TYPES = ("int32", "int32", "float64", "int32", "int32", "int8")  # of the arrays of an ensemble
_OBJECTIVES = {"poisson": "poisson", "bernoulli": "cross_entropy"}


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """Trees as arrays with one entry per node; children of a tree follow its root."""

    root: Ints  # node at which each tree begins
    column: Ints  # column that a node compares; -1 for a leaf
    threshold: Floats  # largest value that goes to the left child; the value of a leaf
    left: Ints  # left child of each node
    right: Ints  # right child of each node
    missing: NDArray[np.int8]  # NaN counts as zero (0), goes left (1) or goes right (2)

    @classmethod
    def empty(cls) -> TreeEnsemble:
        """Return an ensemble of no trees, whose raw scores are zero."""
        return cls(*(np.zeros(0, kind) for kind in TYPES))

    def raw_scores(self, table: Singles) -> Floats:
        """Sum over the trees for each row of a table (rows, columns)."""
        arrays = (getattr(self, name) for name in ARRAYS)
        return _raw_scores(np.ascontiguousarray(table, dtype=np.float32), *arrays)

    def check(self, columns: int = 1 << 30) -> None:
        """Raise an error if a walk from a root could leave the arrays or never end.

        ``columns`` is the width of the tables; if it is not known yet, columns are checked later.
        """
        for name, kind in zip(ARRAYS, TYPES, strict=True):
            array = getattr(self, name)
            if array.ndim != 1 or array.dtype != kind:
                raise InputError(f"the array {name!r} of the trees: one of {kind} expected")
        nodes = len(self.column)
        if any(len(getattr(self, name)) != nodes for name in ARRAYS[1:]):
            raise InputError("the arrays of the trees differ in length: damaged weights")
        inner = self.column != LEAF
        places = np.arange(nodes)
        ordered = (self.left > places) & (self.right > places)  # so that every walk ends
        inside = (self.left < nodes) & (self.right < nodes)
        good = (
            bool(np.all((self.root >= 0) & (self.root < nodes)))
            and bool(np.all(~inner | (ordered & inside)))
            and bool(np.all((self.column >= LEAF) & (self.column < columns)))
            and bool(np.all(np.isfinite(self.threshold)))
        )
        if not good:
            raise InputError("the arrays of the trees do not describe trees: damaged weights")


ARRAYS = tuple(field.name for field in fields(TreeEnsemble))


def fit_trees(
    table: Singles,
    targets: Floats,
    weight: Floats,
    *,
    loss: TreeLoss,
    trees: int,
    leaves: int,
    learning_rate: float,
    columns_per_tree: float,
    rows_per_tree: float,
    least_rows: int,
    seed: int,
    threads: int,
    l2: float = 1.0,
    start: Floats | None = None,
) -> list[TreeEnsemble]:
    """Fit an ensemble for each column of the targets (rows, outputs).

    ``start`` has raw scores to which the trees are added, one per row. The same arguments give the
    same trees for any number of threads.
    """
    lightgbm = require("lightgbm", "train")
    settings = {
        "objective": _OBJECTIVES[loss],
        "num_leaves": leaves,
        "learning_rate": learning_rate,
        "feature_fraction": columns_per_tree,
        "bagging_fraction": rows_per_tree,
        "bagging_freq": int(rows_per_tree < 1),
        "min_data_in_leaf": least_rows,
        "lambda_l2": l2,
        "max_bin": 63,
        "seed": seed,
        "num_threads": threads,
        "deterministic": True,
        "force_col_wise": True,
        "verbose": -1,
    }
    # Sorting the table into bins takes as long as fitting: it is done once for all targets.
    data = lightgbm.Dataset(table, targets[:, 0], weight=weight, init_score=start, params=settings)
    ensembles = []
    for target in targets.T:
        data.construct().set_label(np.ascontiguousarray(target))
        booster = lightgbm.train(settings, data, num_boost_round=trees)
        ensembles.append(_arrays(booster.dump_model()))
    return ensembles


def _arrays(dump: dict[str, Any]) -> TreeEnsemble:
    """The trees of a dump of LightGBM as arrays, parents before children."""
    roots: list[int] = []
    rows: list[list[float]] = []

    def add(node: dict[str, Any]) -> int:
        place = len(rows)
        if "split_feature" not in node:
            rows.append([LEAF, node["leaf_value"], 0, 0, 0])
            return place
        if node["decision_type"] != "<=":
            raise InputError(f"trees: a split of type {node['decision_type']!r} is not supported")
        missing = 0
        if node["missing_type"] == "NaN":
            missing = 1 if node["default_left"] else 2
        rows.append([node["split_feature"], node["threshold"], 0, 0, missing])
        rows[place][2] = add(node["left_child"])
        rows[place][3] = add(node["right_child"])
        return place

    for tree in dump["tree_info"]:
        roots.append(len(rows))
        add(tree["tree_structure"])
    table = np.array(rows, dtype=np.float64).reshape(-1, 5)
    return TreeEnsemble(
        root=np.array(roots, dtype=np.int32),
        column=table[:, 0].astype(np.int32),
        threshold=np.ascontiguousarray(table[:, 1]),
        left=table[:, 2].astype(np.int32),
        right=table[:, 3].astype(np.int32),
        missing=table[:, 4].astype(np.int8),
    )


@compiled
def _raw_scores(
    table: Singles,
    root: Ints,
    column: Ints,
    threshold: Floats,
    left: Ints,
    right: Ints,
    missing: NDArray[np.int8],
) -> Floats:
    scores = np.zeros(len(table))
    # Trees outside, rows inside: the nodes of a tree stay in the cache.
    for t in range(len(root)):
        for row in range(len(table)):
            node = root[t]
            while column[node] >= 0:
                x = np.float64(table[row, column[node]])
                if x == x:
                    goes_left = x <= threshold[node]
                elif missing[node] == 0:
                    goes_left = threshold[node] >= 0.0
                else:
                    goes_left = missing[node] == 1
                node = left[node] if goes_left else right[node]
            scores[row] += threshold[node]
    return scores
