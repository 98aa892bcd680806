"""Files made to look like real exports: actigraphs, EDF files, a log, tables of other tools."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

BERLIN = ZoneInfo("Europe/Berlin")
FIRST_NIGHT = datetime(2024, 10, 22, 12, tzinfo=BERLIN)


def write_actigraphy(folder: Path, *, participants: int = 6, days: int = 6) -> list[float]:
    """ActiGraph files of one epoch per minute and a diary, over the night clocks are set back.

    Returns the true seconds from the start of P01 of its onsets and wake-ups, in turn.
    """
    rng = np.random.default_rng(0)
    begin = FIRST_NIGHT.astimezone(UTC)
    diary, truth = ["Participant;Bedtime;Wake time"], []
    (folder / "exports").mkdir(parents=True)
    for number in range(1, participants + 1):
        activity = rng.poisson(300, days * 24 * 60)
        for day in range(days):
            night = (FIRST_NIGHT + timedelta(days=day)).replace(hour=23, minute=0)  # local
            ends = [night + timedelta(minutes=int(rng.integers(-50, 50)))]
            ends.append((night + timedelta(hours=8)).replace(minute=int(rng.integers(0, 59))))
            seconds = [(end.astimezone(UTC) - begin).total_seconds() for end in ends]
            activity[int(seconds[0] // 60) : int(seconds[1] // 60)] //= 60
            diary.append(f"P{number:02};{ends[0]:%d.%m.%Y %H:%M};{ends[1]:%d.%m.%Y %H:%M}")
            truth += seconds if number == 1 else []
        moments = [(begin + timedelta(minutes=i)).astimezone(BERLIN) for i in range(len(activity))]
        head = [
            "------------ Data File Created By ActiGraph GT3X+ ActiLife v6.13.3 Firmware v2.5.0 "
            "date format M/d/yyyy Filter Normal -----------",
            f"Serial Number: MOS2A4311028{number}",
            "Start Time 12:00:00",
            "Start Date 10/22/2024",
            "Epoch Period (hh:mm:ss) 00:01:00",
            "Download Time 10:12:14",
            "Download Date 11/4/2024",
            "Current Memory Address: 0",
            "Current Battery Voltage: 4.07     Mode = 12",
            "--------------------------------------------------",
            "Date,Time,Axis1,Axis2,Axis3,Steps",
        ]
        rows = [
            f"{at.month}/{at.day}/{at.year},{at:%H:%M:%S},{count},{count // 2},{count // 3},0"
            for at, count in zip(moments, activity.tolist(), strict=True)
        ]
        (folder / "exports" / f"P{number:02}.csv").write_text("\n".join([*head, *rows]) + "\n")
    (folder / "diary.csv").write_text("\n".join(diary) + "\n")
    return truth


def write_clinic(folder: Path, *, files: int = 6, seconds: int = 120) -> None:
    """EDF files of three rates and spellings of channels, one damaged, with a table of seizures."""
    import edfio

    rng = np.random.default_rng(0)
    spellings = (("EEG Fp1-REF", "EEG T3-REF", "ECG"), ("T7", "FP1", "EKG"), ("Fp1", "T3", "ECG"))
    rows = ["File,Type,Begin,Stop"]
    (folder / "clinic").mkdir(parents=True)
    start = datetime(2024, 1, 15, 22, 30)
    for number in range(files):
        rate, labels = (256, 200, 512)[number % 3], spellings[number % 3]
        first, last = sorted(rng.uniform(20, seconds - 20, 2))
        times = np.arange(rate * seconds) / rate
        signals = []
        for label in labels:
            values = rng.normal(0, 10, len(times))
            if "K" not in label and "C" not in label:
                values += 80 * np.sin(2 * np.pi * 3 * times) * ((times >= first) & (times < last))
            signals.append(edfio.EdfSignal(values, rate, label=label))
        name = f"pat{number:02}_night"
        edfio.Edf(
            signals, recording=edfio.Recording(startdate=start.date()), starttime=start.time()
        ).write(folder / "clinic" / f"{name}.edf")
        ends = [start + timedelta(seconds=float(end)) for end in (first, last)]
        rows.append(f"{name},sz,{ends[0]:%Y-%m-%d %H:%M:%S},{ends[1]:%Y-%m-%d %H:%M:%S}")
    (folder / "clinic" / "pat99_night.edf").write_bytes(b"0       " + b"?" * 5000)
    (folder / "seizures.csv").write_text("\n".join(rows) + "\n")


def write_log(folder: Path, *, machines: int = 6, hours: int = 12) -> None:
    """One long log of machines with gaps, semicolons and decimal commas, and a list of faults.

    Both have local times of Kolkata, half an hour off the full one; the log has a row every ten
    seconds.
    """
    rng = np.random.default_rng(0)
    begin = datetime(2024, 5, 6, 4, tzinfo=UTC)
    zone = ZoneInfo("Asia/Kolkata")
    rows, faults = ["Machine;Timestamp;Pressure;Flow"], ["Machine;Fault;When"]
    for number in range(1, machines + 1):
        count = hours * 360
        pressure, flow = rng.normal(5, 0.1, count), rng.normal(20, 0.5, count)
        for place in np.sort(rng.choice(np.arange(120, count - 120, 240), hours, replace=False)):
            place += int(rng.integers(-40, 40))
            pressure[place : place + 12] -= 3
            when = (begin + timedelta(seconds=10 * int(place))).astimezone(zone)
            faults.append(f"M{number};leak;{when:%Y-%m-%d %H:%M:%S}")
        kept = np.ones(count, dtype=bool)
        gap = int(rng.integers(0, count - 60))
        kept[gap : gap + 30] = False  # five minutes without a row
        for i in np.flatnonzero(kept):
            at = (begin + timedelta(seconds=10 * int(i))).astimezone(zone)
            values = f"{pressure[i]:.3f};{flow[i]:.2f}".replace(".", ",")
            rows.append(f"M{number};{at:%Y-%m-%d %H:%M:%S};{values}")
    (folder / "log.csv").write_text("\n".join(rows) + "\n")
    (folder / "faults.csv").write_text("\n".join(faults) + "\n")


def write_scorer(folder: Path) -> None:
    """Annotated onsets of ten recordings, and what two other tools found, with odd columns."""
    rng = np.random.default_rng(0)
    truth, first, second = ["File;Label;Seconds"], ["file,kind,t,conf"], ["file,kind,t,conf"]
    for number in range(10):
        for time in np.sort(rng.uniform(0, 3600, 8)):
            truth.append(f"n{number};apnea;{time:.1f}".replace(".", ","))
            first.append(f"n{number},apnea,{time + rng.normal(0, 2):.2f},{rng.uniform(0.5, 1):.3f}")
            if rng.uniform() < 0.5:
                second.append(f"n{number},apnea,{time + rng.normal(0, 6):.2f},{rng.uniform():.3f}")
        first.append(f"n{number},apnea,{rng.uniform(0, 3600):.2f},{rng.uniform(0, 0.6):.3f}")
    for name, rows in (("truth", truth), ("tool-a", first), ("tool-b", second)):
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
