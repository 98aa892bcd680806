"""Verification of a finished study, from its protocol to its tables; nothing is written.

1. The chain: the results name ``chain.json``, which names what the study is bound to and the marks
   of all steps; a mark names its files. Every file is read and hashed.
2. The data: all recordings and labels are read and hashed; split and models follow from them.
3. The selection is made again from the results of the steps, and is what was frozen before the
   test part was opened.
4. The test labels are matched and scored again, with the same scores.
5. Results, tables and outputs are written again, in memory, with the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bdl.datasets import Benchmark
from bdl.errors import StudyError
from bdl.runs.digest import digest, sha256
from bdl.runs.run_directory import RunDirectory
from bdl.runs.run_reader import StepId
from bdl.study.binding import check_data
from bdl.study.final_scores import ScoreStep
from bdl.study.publication import CHAIN, joined_results, publication
from bdl.study.results import Results
from bdl.study.row_models import RowModel
from bdl.study.runner import PROCEDURES
from bdl.study.steps import StudyStep
from bdl.study.study_plan import StudyPlan
from bdl.study.study_reader import UNFINISHED, StudyReader


@dataclass(frozen=True)
class Verification:
    """Result of the verification of an unchanged study.

    Parameters
    ----------
    chain
        Hash of the chain, which the results name.
    steps, files
        Number of steps, and of the files that they have written.
    recordings
        Number of recordings that were read and whose labels were scored again; None if the data
        is not there, so that only what the study has written was checked.
    """

    chain: str
    steps: int
    files: int
    recordings: int | None


def verify_study(url: str, *, data: Path | None = None, trust: bool = False) -> Verification:
    """Check a finished study from its protocol to its tables.

    Parameters
    ----------
    url
        Run directory.
    data
        Folder of the data set, if it has moved since the study ran.
    trust
        Whether data that can run code when read (a pickle) may be opened; what the study simulated
        into its own directory is trusted.

    Returns
    -------
    Verification
        What was checked.

    Raises
    ------
    StudyError
        If anything is not as the study has written it; the message names it and says what to
        remove.

    Examples
    --------
    >>> import tempfile
    >>> verify_study(tempfile.mkdtemp())
    Traceback (most recent call last):
    bdl.errors.StudyError: ... no study was started here ...
    """
    study, run = StudyReader(url), RunDirectory(url)
    protocol = study.protocol
    if study.get_json("protocol.json")["digest"] != protocol.digest():
        raise study.damage("protocol.json", "the protocol is not the one that its hash names")
    results = study.get_json("results.json")
    plan = StudyPlan.stored(study)
    if results is None or plan is None:
        raise StudyError(f"{study.url}: {UNFINISHED}")
    chain, files = _check_chain(study, results.get("chain"))
    folder = Path(data or study.outputs.data)
    benchmark = None
    if data or folder.exists():
        source = study.data_source(folder, trust=trust)
        benchmark = source.load()
        check_data(run, benchmark, source, verify=True)
        _check_plan(study, plan, benchmark)

    def all_done(stage: str, steps: Sequence[StudyStep]) -> None:
        for step in steps:
            if run.done(step.id) is None:
                raise StudyError(f"{study.url}: {UNFINISHED} (step {step.name} is not done)")

    trained = PROCEDURES[protocol.regime].train(run, plan, all_done)
    score = ScoreStep.of(plan, trained.runs)
    if {step.folder for step in (*trained.steps, score.id)} != {step.folder for step in files}:
        raise study.damage(CHAIN, "it names other steps than the protocol has")
    _check_opening(study)
    study.get_json("files.json")
    scores = Results.from_dict(run.result(score.id))
    joined = Results.from_dict(results)
    if benchmark is not None:
        if digest(score.perform(run, benchmark).result) != digest(run.result(score.id)):
            raise study.damage(
                f"{score.id.folder}/done.json", "the detections give other scores than it says"
            )
        joined = joined_results(trained, scores, benchmark)
    written = publication(run, plan, trained, score.id, joined, study.outputs.data)
    for name, content in written.items():
        if run.get(name) != content:
            raise study.damage(name, "it is not what the steps of the study give")
    return Verification(
        chain=chain,
        steps=len(files),
        files=sum(files.values()),
        recordings=None if benchmark is None else len(benchmark.recordings),
    )


def _check_chain(study: StudyReader, named: Any) -> tuple[str, dict[StepId, int]]:
    """Hash every file of the chain; the chain's hash, and the number of files of each step."""
    chain = study.get(CHAIN)
    if chain is None or sha256(chain) != named:
        raise study.damage(CHAIN, "it is not the chain that results.json names")
    counts = {}
    for name, hash in study.get_json(CHAIN)["files"].items():
        content = study.get(name)
        if content is None or sha256(content) != hash:
            problem = "it is missing" if content is None else f"{CHAIN} names another"
            raise study.damage(name, problem)
        if name.startswith("steps/"):
            mark = study.get_json(name)
            step = StepId(name=mark["step"], key=mark["key"])
            for file, hash in mark["files"].items():
                study.checked(step, file, hash)
            counts[step] = len(mark["files"])
    return sha256(chain), counts


def _check_plan(study: StudyReader, plan: StudyPlan, benchmark: Benchmark) -> None:
    """Check that split and models follow from protocol and data."""
    protocol = plan.protocol
    if protocol.make_folds(benchmark.recordings.groups) != plan.folds:
        raise study.damage("split.json", "it is not the split of the protocol")
    if RowModel.of_rows(protocol, benchmark) != plan.models:
        raise study.damage("models.json", "it does not hold the models of the protocol")


def _check_opening(study: StudyReader) -> None:
    """Check that the test part was opened after the selection had been frozen, and with it."""
    frozen = study.get_json("frozen.json")["digest"]
    opened = [entry for entry in study.ledger() if entry["event"] == "test opened"]
    if not opened or any(entry.get("frozen") != frozen for entry in opened):
        raise StudyError(
            f"{study.url}: the ledger does not say that the test part was opened with the "
            "selection in frozen.json"
        )
