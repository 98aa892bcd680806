"""Ensembles of boosted trees as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl.arrays import Floats, Longs
from bdl.boosting import LEAF, TreeEnsemble
from bdl.onnx_graph import Graph


def raw_scores(graph: Graph, trees: TreeEnsemble, table: str) -> str:
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
