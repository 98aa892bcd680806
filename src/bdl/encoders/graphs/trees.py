"""Boosted trees as ONNX operators: running sums, window statistics, and an ensemble per output.

Every number that a tree compares is computed in double precision, in the order in which
`bdl.window_statistics` computes it, so that it has the same bits and every walk through a tree ends
at the same leaf.

The causal form carries the last ``2 * widest`` bins as running sums and the number of bins so far,
each of a fixed size per item, so that streams of different ages share a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bdl.arrays import Floats, Longs
from bdl.boosting import ARRAYS, LEAF, TreeEnsemble
from bdl.encoders.trees import Trees
from bdl.onnx_graph import EncoderInputs, Graph, Weights


def tree_density(
    graph: Graph, settings: Trees, weights: Weights, inputs: EncoderInputs, prefix: str
) -> str:
    """Density (batch, bins, outputs)."""
    assert settings.statistics is not None
    per_channel = len(settings.statistics)
    channels = inputs.inputs // per_channel
    by_channel = graph.add(
        "Reshape",
        graph.slice(inputs.values, 2, 0, channels * per_channel),
        graph.integers(0, 0, channels, per_channel),
    )
    mean, spread = (
        graph.add("Gather", by_channel, graph.constant(place, np.int64), axis=3)
        for place in map(settings.statistics.index, ("mean", "std"))
    )
    windows = _Windows(graph, settings, mean, spread, channels, prefix)
    columns = [mean, spread]
    for width in settings.widths:
        columns += windows.causal(width) if settings.causal else windows.centred(width)
    stacked = [graph.add("Unsqueeze", column, graph.integers(3)) for column in columns]
    table = graph.add(
        "Reshape",
        graph.add("Concat", *stacked, axis=3),
        graph.integers(0, 0, channels * len(columns)),
    )
    parts = [table]
    if inputs.inputs % per_channel:
        parts.append(graph.slice(inputs.values, 2, channels * per_channel))
    for place in (inputs.hour, inputs.weekday):
        if place is not None:
            number = graph.cast(place, np.float32)
            parts.append(graph.add("Unsqueeze", number, graph.integers(2)))
    if len(parts) > 1:
        table = graph.add("Concat", *parts, axis=2)
    return _ensembles(graph, weights, table, inputs.outputs)


@dataclass
class _Range:
    """Sums over a range of bins that ends or begins at each bin, and the number of bins in it."""

    sums: str  # (batch, bins, channels, 2) float64: of means, of mean squares
    count: str  # (batch or 1, bins, 1) float64


class _Windows:
    """Window statistics of every bin, from running sums."""

    def __init__(
        self, graph: Graph, settings: Trees, mean: str, spread: str, channels: int, prefix: str
    ) -> None:
        self.graph = graph
        self.zero = graph.constant(0, np.int64)
        self.one = graph.constant(1, np.int64)
        shape = graph.add("Shape", mean)
        self.bins = graph.add("Squeeze", graph.slice(shape, 0, 1, 2))
        self.place = graph.add("Range", self.zero, self.bins, self.one)
        widest = max(settings.widths)
        m, s = graph.cast(mean, np.float64), graph.cast(spread, np.float64)
        if settings.causal:
            self.past = 2 * widest
            past = graph.state(f"{prefix}sums", np.float64, ("batch", self.past + 1, channels, 2))
            seen = graph.state(f"{prefix}seen", np.int64, ("batch",))
            before = graph.slice(past, 1, self.past)
        else:
            self.past = 0
            head = graph.slice(graph.add("Shape", m), 0, 0, 1)
            tail = graph.integers(1, channels, 2)
            past = before = graph.add(
                "Expand", graph.constant(0.0, np.float64), graph.add("Concat", head, tail, axis=0)
            )
        after = self._running(m, s, before)
        self.sums = graph.add("Concat", past, after, axis=1)  # before each bin, and after the last
        if settings.causal:
            count = graph.add("Add", seen, self.bins)
            graph.carry(f"{prefix}sums", graph.slice(self.sums, 1, -(self.past + 1)))
            graph.carry(f"{prefix}seen", count)
            first = graph.add("Unsqueeze", seen, graph.integers(1))
            # (batch, bins): bins up to and with this one.
            self.age = graph.add("Add", graph.add("Add", first, self.place), self.one)

    def _running(self, m: str, s: str, before: str) -> str:
        """(batch, bins, channels, 2): sums of means and of mean squares up to each bin.

        The square of a bin's mean is added, then that of its spread: two steps of one sum.
        """
        graph, two = self.graph, self.graph.constant(2, np.int64)
        axis = graph.constant(1, np.int64)
        squares = [
            graph.add("Unsqueeze", graph.add("Mul", x, x), graph.integers(2)) for x in (m, s)
        ]
        shape = graph.add("Shape", m)
        batch, channels = graph.slice(shape, 0, 0, 1), graph.slice(shape, 0, 2, 3)
        twice = graph.add("Unsqueeze", graph.add("Mul", self.bins, two), graph.integers(0))
        steps = graph.add(
            "Reshape",
            graph.add("Concat", *squares, axis=2),
            graph.add("Concat", batch, twice, channels, axis=0),
            allowzero=1,
        )
        sums = []
        for column, x in enumerate((m, steps)):
            start = graph.add("Gather", before, graph.constant(column, np.int64), axis=3)
            total = graph.add("CumSum", graph.add("Concat", start, x, axis=1), axis)
            total = graph.slice(total, 1, 1)
            if column == 1:  # after the second step of each bin
                odd = graph.add("Add", graph.add("Mul", self.place, two), self.one)
                total = graph.add("Gather", total, odd, axis=1)
            sums.append(graph.add("Unsqueeze", total, graph.integers(3)))
        return graph.add("Concat", *sums, axis=3)

    def _between(self, low: str, high: str) -> _Range:
        """Bins ``[low, high)``, places (bins,) in the running sums that are inside them."""
        graph = self.graph
        sums = graph.add(
            "Sub",
            graph.add("Gather", self.sums, high, axis=1),
            graph.add("Gather", self.sums, low, axis=1),
        )
        return _Range(sums, self._counted(graph.add("Sub", high, low), (0, 2)))

    def _counted(self, count: str, axes: tuple[int, ...]) -> str:
        number = self.graph.cast(count, np.float64)
        return self.graph.add("Unsqueeze", number, self.graph.integers(*axes))

    def centred(self, width: int) -> list[str]:
        """Mean before, after and their difference, then the same of the spread."""
        graph = self.graph
        size = graph.constant(width, np.int64)
        low = graph.add("Max", graph.add("Sub", self.place, size), self.zero)
        high = graph.add("Min", graph.add("Add", self.place, size), self.bins)
        before = self._statistics(self._between(low, self.place))
        after = self._statistics(self._between(self.place, high))
        columns = []
        for earlier, later in zip(before, after, strict=True):
            columns += [earlier, later, graph.add("Sub", later, earlier)]
        return [graph.cast(column, np.float32) for column in columns]

    def causal(self, width: int) -> list[str]:
        """Mean of the recent window and its difference to the earlier one, then of the spread."""
        graph = self.graph
        size = graph.constant(width, np.int64)
        # Sums before the first bin are zero, so that only the counts know where it is.
        end = graph.add("Add", self.place, graph.constant(self.past + 1, np.int64))
        middle = graph.add("Sub", end, size)
        begin = graph.add("Sub", middle, size)
        recent = self._between(middle, end)
        earlier = self._between(begin, middle)
        recent.count = self._counted(graph.add("Min", self.age, size), (2,))
        left = graph.add("Max", graph.add("Sub", self.age, size), self.zero)
        earlier.count = self._counted(graph.add("Min", left, size), (2,))
        columns = []
        pairs = zip(self._statistics(recent), self._statistics(earlier), strict=True)
        for recent_value, earlier_value in pairs:
            columns += [recent_value, graph.add("Sub", recent_value, earlier_value)]
        return [graph.cast(column, np.float32) for column in columns]

    def _statistics(self, window: _Range) -> tuple[str, str]:
        """Mean and spread (batch, bins, channels); NaN for no bins."""
        graph = self.graph
        zero = graph.constant(0.0, np.float64)
        mean, square = (
            graph.add(
                "Div",
                graph.add("Gather", window.sums, graph.constant(column, np.int64), axis=3),
                window.count,
            )
            for column in (0, 1)
        )
        variance = graph.add("Sub", square, graph.add("Mul", mean, mean))
        spread = graph.add("Sqrt", graph.add("Max", variance, zero))
        empty = graph.add("Equal", window.count, zero)
        nothing = graph.constant(np.nan, np.float64)
        return graph.add("Where", empty, nothing, mean), graph.add("Where", empty, nothing, spread)


def _ensembles(graph: Graph, weights: Weights, table: str, outputs: int) -> str:
    """Density (batch, bins, outputs) of the trees of each output on a table of statistics."""
    shape = graph.add("Shape", table)
    columns = graph.slice(shape, 0, 2)
    flat = graph.add("Reshape", table, graph.add("Concat", graph.integers(-1), columns, axis=0))
    flat = graph.cast(flat, np.float64)  # the trees then add up in double precision
    densities = []
    for j in range(outputs):
        trees = TreeEnsemble(**{name: weights[f"{name}_{j}"] for name in ARRAYS})
        raw = graph.cast(_raw_scores(graph, trees, flat), np.float64)
        if bool(weights["probability"][0]):
            density = graph.add("Sigmoid", raw)
        else:
            density = graph.add("Exp", raw)
        if np.isfinite(largest := weights["largest"]).all():
            density = graph.add("Min", density, graph.constant(largest, np.float64))
        densities.append(graph.cast(density, np.float32))
    joined = densities[0] if outputs == 1 else graph.add("Concat", *densities, axis=1)
    head = graph.slice(shape, 0, 0, 2)
    return graph.add(
        "Reshape", joined, graph.add("Concat", head, graph.integers(outputs), axis=0), allowzero=1
    )


def _raw_scores(graph: Graph, trees: TreeEnsemble, table: str) -> str:
    """Sum over the trees, (rows, 1) float32, for the rows of a table (rows, columns) float64.

    A table in double precision makes the runtime add up in double precision.
    """
    from onnx import numpy_helper

    tree, node = _reachable(trees)
    column = trees.column[node]
    leaf = column == LEAF
    begin = trees.root[tree]
    # A missing value counts as zero, goes left, or goes right.
    goes_left = np.where(trees.missing == 0, trees.threshold >= 0, trees.missing == 1)[node]

    def doubles(values: Floats) -> Any:
        return numpy_helper.from_array(np.ascontiguousarray(values, dtype=np.float64))

    within_tree = node - begin
    return graph.add(
        "TreeEnsembleRegressor",
        table,
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=tree.tolist(),
        nodes_nodeids=within_tree.tolist(),
        nodes_featureids=np.where(leaf, 0, column).tolist(),
        nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_values_as_tensor=doubles(np.where(leaf, 0.0, trees.threshold[node])),
        nodes_truenodeids=np.where(leaf, 0, trees.left[node] - begin).tolist(),
        nodes_falsenodeids=np.where(leaf, 0, trees.right[node] - begin).tolist(),
        nodes_missing_value_tracks_true=(goes_left & ~leaf).astype(int).tolist(),
        target_treeids=tree[leaf].tolist(),
        target_nodeids=within_tree[leaf].tolist(),
        target_ids=[0] * int(leaf.sum()),
        target_weights_as_tensor=doubles(trees.threshold[node][leaf]),
    )


def _reachable(trees: TreeEnsemble) -> tuple[Longs, Longs]:
    """Trees and nodes that can be reached, tree by tree, nodes in their order."""
    tree_of, nodes = [], []
    for tree, root in enumerate(trees.root.tolist()):
        reached, waiting = [], [root]
        while waiting:
            node = waiting.pop()
            reached.append(node)
            if trees.column[node] != LEAF:
                waiting += [int(trees.left[node]), int(trees.right[node])]
        nodes += sorted(reached)
        tree_of += [tree] * len(reached)
    return np.array(tree_of, dtype=np.int64), np.array(nodes, dtype=np.int64)
