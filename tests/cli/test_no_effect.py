"""Options that have no effect where they are given: each is an error that names it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bdl.density import Density
from bdl.errors import ConfigError
from bdl.formats.densities import write_densities
from calling import call

SCORE = "score --truth truth.csv --detections found.csv --tolerance 3"
COLLAR = "score --truth truth.csv --detections found.csv --collar 3"
COMPARE = (
    "compare --truth truth.csv --detections a=found.csv --detections b=found.csv --tolerance 3"
)
REPORT = "report found.csv --truth truth.csv --tolerance 3"
REVIEW = "review --events truth.csv --events other.csv --tolerance 3"
PEAKS = "decode densities --out out.csv --decoder peaks"
CALIBRATE = "calibrate densities --events truth.csv --out c.json"

NO_EFFECT = [
    (f"{SCORE} --seed 4", "--seed has no effect without --bootstrap"),
    (f"{SCORE} --metric F1@3", "--metric has no effect without --bootstrap"),
    (f"{SCORE} --level 0.9", "--level has no effect without --bootstrap"),
    (f"{SCORE} --cluster recording", "--cluster has no effect without --bootstrap"),
    (f"{SCORE} --delay 3 --seed 4", "--seed has no effect without --bootstrap"),
    (f"{SCORE} --errors 3 --json", "--errors has no effect with --json"),
    (f"{SCORE} --period 5", "--period has no effect: all tables are in seconds"),
    (f"{COLLAR} --metric F1@3", "--metric has no effect with --scoring collar"),
    (f"{COLLAR} --bootstrap 9", "--bootstrap has no effect with --scoring collar"),
    (f"{COLLAR} --event-free ignore", "--event-free ignore has no effect with --scoring collar"),
    (f"{COMPARE} --period 5", "--period has no effect: all tables are in seconds"),
    (f"{REPORT} --seed 4 --bootstrap 0", "--seed has no effect with --bootstrap 0"),
    (f"{REPORT} --period 4", "--period has no effect: all tables are in seconds"),
    (f"{REPORT} --trust-pickle", "--trust-pickle has no effect without the run directory"),
    (f"{REPORT} --pattern *.csv", "--pattern has no effect without --recordings or --dataset"),
    ("report . --tolerance 3", "--tolerance has no effect on a report of a project or study"),
    ("report . --bootstrap 5", "--bootstrap has no effect on a report of a project or study"),
    (f"{REVIEW} --threshold 0.9", "--threshold has no effect without --densities or --detections"),
    (f"{REVIEW} --margin 0.1", "--margin has no effect without --densities or --detections"),
    (f"{REVIEW} --format csv", "--format has no effect without --recordings or --dataset"),
    ("explore --recordings r.csv --to bids", "--to has no effect without --out"),
    ("explore --recordings r.csv --out a.csv --port 1", "--port has no effect with --out"),
    ("explore --recordings r.csv --code 1=a", "--code has no effect without --events"),
    ("explore --recordings r.csv --threshold 0.4", "--threshold has no effect without --densities"),
    (f"{PEAKS} --interval s=onset,offset", "--interval has no effect without --pairs"),
    (
        "decode densities --out out.csv --decoder cal.json --interval s=onset,offset",
        "--interval has no effect without --pairs: the decoder does not alternate",
    ),
    (
        "decode spikes --out o.csv --decoder cal.json --interval sleep=onset,wakeup --pairs p.csv",
        "interval 'sleep' .*: its end 'onset' is no event type of the densities, which have spike",
    ),
    (
        "calibrate spikes --events spike.csv --out c.json --tolerance 9 --interval s=on,off",
        "interval 's' .*: its end 'on' is no event type of the densities",
    ),
    (
        f"{CALIBRATE} --grid peaks --tolerance 9 --interval s=onset,offset",
        "--interval has no effect: the grid alternates no onsets",
    ),
    (
        "score --truth spike.csv --detections spike.csv --tolerance 9 --interval s=on,off",
        "interval 's' .*: no table has events of its end 'off'; they have spike",
    ),
    (f"{SCORE} --interval s=onset,wakeup", "no table has events of its end 'wakeup'"),
    (
        "score --truth three.csv --detections found.csv --tolerance 9 --type spike "
        "--unknown ignore --interval s=onset,offset",
        "interval 's' .* has no effect: neither of its ends is scored",
    ),
    (f"{SCORE} --interval s=onset,offset", "--interval has no effect without the durations"),
    (
        f"{SCORE} --delay 3 --false-alarms-per-day 2",
        "--false-alarms-per-day has no effect without the durations .*--recordings",
    ),
    ("inspect --events truth.csv --quick", "--quick has no effect without recordings"),
    ("inspect r.csv --code 1=a", "--code has no effect without --events"),
    ("inspect r.csv --option a=1", "--option has no effect without --dataset"),
    ("inspect r.csv --dataset mitdb --period 5", "--period has no effect with --dataset"),
    ("inspect r.csv --threads 2", "--threads has no effect with one worker process"),
    ("inspect r.csv --pattern *.zip", "--pattern .*no effect with r.csv; leave it out, or give"),
    ("inspect ?.csv --pattern b*.csv", r"--pattern b\*.csv: chooses files of a folder, so it has"),
    (
        "fit --recordings ?.csv --pattern b*.csv --events truth.csv --out m.safetensors",
        "--pattern .* no effect",
    ),
    ("prepare r.csv --out store --option a=1", "--option has no effect without --dataset"),
    ("prepare . --out store --dataset mitdb --period 5", "--period has no effect with --dataset"),
    ("prepare r.csv --out store --address host", "--address.* has no effect with the backend loky"),
    ("live model.bdl --save-every 3", "--save-every has no effect without --state"),
    (
        "live model.bdl --source lsl:x --line-format csv",
        "--line-format has no effect with --source",
    ),
    ("detect model.bdl r.csv --out o.csv --resample", "--resample has no effect with the rec"),
    ("detect model.bdl r.csv --out o.csv --all --unpaired", "--unpaired has no effect with"),
    ("figures --out figures --data .", "--data has no effect without run directories"),
    (
        "audit --data . --dataset sleep --kernel {kind:\u00a0gaussian,sigma:\u00a05} --sigma 3",
        "--sigma 3: --kernel has a sigma of 5; leave one out",
    ),
    (
        "study run fraud --scale tiny --out run --verify",
        r"verify \(--verify\) has no effect on a new run directory",
    ),
    (
        "study run fraud --scale tiny --out run --trust-pickle",
        "--trust-pickle has no effect: fraud data have no pickles",
    ),
    ("study list --verbose --json", "--verbose has no effect with --json"),
    ("study table run --to csv --json", "--to has no effect with --json"),
]


@pytest.fixture(autouse=True)
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("truth.csv").write_text("recording,event,time\na,onset,10\na,offset,20\n")
    Path("other.csv").write_text("recording,event,time\na,onset,11\na,offset,20\n")
    Path("found.csv").write_text(
        "recording,event,time,score,issued\na,onset,11,0.9,12\na,offset,25,0.8,26\n"
    )
    Path("r.csv").write_text("time,x\n" + "".join(f"{i},{i % 7}\n" for i in range(60)))
    values = np.zeros((60, 2), np.float32)
    values[10, 0] = values[20, 1] = 0.9
    Path("known.csv").write_text("recording,duration\na,3600\n")
    Path("spike.csv").write_text("recording,event,time\na,spike,10\n")
    Path("three.csv").write_text("recording,event,time\na,onset,9\na,offset,19\na,spike,10\n")
    Path("spans.csv").write_text("recording,event,start,end\na,s,10,20\n")
    Path("cal.json").write_text('{"decoder": {"kind": "peaks"}}')
    write_densities("spikes", [Density("a", values[:, :1], ("spike",), 1.0, 1, 60)])
    write_densities("densities", [Density("a", values, ("onset", "offset"), 1.0, 1, 60)])


@pytest.mark.parametrize(("words", "message"), NO_EFFECT)
def test_an_option_without_effect_is_an_error(words: str, message: str) -> None:
    if words.startswith("fit "):
        pytest.importorskip("torch")
    with pytest.raises(ConfigError, match=message):
        call(*(word.replace("\u00a0", " ") for word in words.split(" ")))


@pytest.mark.parametrize(
    "words",
    [
        f"{SCORE} --bootstrap 9 --seed 4 --metric F1@3 --level 0.9 --cluster recording",
        f"{COLLAR} --event-free count",
        f"{SCORE} --unit steps --period 5",
        f"{REPORT} --seed 4 --bootstrap 9",
        f"{REVIEW} --reach 20",
        f"{REVIEW} --detections found.csv --threshold 0.9 --margin 0.1",
        f"{PEAKS} --interval s=onset,offset --pairs pairs.csv",
        f"{SCORE} --interval s=onset,offset --recordings known.csv",
        f"{SCORE} --delay 3 --false-alarms-per-day 2 --recordings known.csv",
        "score --truth spans.csv --detections found.csv --tolerance 9 --interval s=onset,offset",
        f"{CALIBRATE} --tolerance 9 --interval s=onset,offset",
        f"{CALIBRATE} --tolerance 9 --interval s=onset,offset "
        "--grid {kind:\u00a0peaks,alternations:\u00a0[false,true]}",
        "calibrate densities --events spans.csv --out c.json --grid peaks --tolerance 9 "
        "--interval s=onset,offset",
        "decode densities --out out.csv --decoder {kind:\u00a0peaks,alternate:\u00a0true} "
        "--interval s=onset,offset",
        "inspect r.csv --events truth.csv --threads 1 --jobs 2 --interval s=onset,offset",
    ],
)
def test_an_option_with_an_effect_is_accepted(words: str) -> None:
    if words.startswith("report"):
        pytest.importorskip("plotly")
    call(*(word.replace("\u00a0", " ") for word in words.split(" ")))
