"""Notebooks of the documentation, run cell by cell without a kernel.

``python tests/notebooks.py FILE`` runs a notebook and writes its outputs into it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def run(path: Path) -> list[list[dict[str, Any]]]:
    """Outputs of each code cell, in the form in which notebooks keep them."""
    names: dict[str, Any] = {}
    outputs = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            outputs.append(_outputs("".join(cell["source"]), names))
    return outputs


def _outputs(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue().rstrip():
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        data = {"text/plain": str(value)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_()
        outputs.append(
            {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}
        )
    return outputs


if __name__ == "__main__":
    notebook = Path(sys.argv[1])
    content = json.loads(notebook.read_text("utf-8"))
    cells = (cell for cell in content["cells"] if cell["cell_type"] == "code")
    for code, shown in zip(cells, run(notebook), strict=True):
        code["outputs"] = shown
    notebook.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
