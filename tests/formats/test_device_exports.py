"""CSV files as actigraphs export them: lines about the device before the table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from bdl.errors import InputError
from bdl.formats import read_recordings

ZONE = ZoneInfo("Europe/Berlin")
BEGIN = datetime(2024, 10, 26, 12, tzinfo=UTC)  # 14:00; clocks are set back that night
MOMENTS = [(BEGIN + timedelta(minutes=i)).astimezone(ZONE) for i in range(24 * 60)]


def actigraph(form: str, dates: str, start: str, rows: list[str]) -> str:
    return "\n".join(
        [
            f"------------ Data File Created By ActiGraph GT3X+ ActiLife v6.13.3 Firmware v2.5.0 "
            f"date format {dates} Filter Normal -----------",
            "Serial Number: MOS2A43110286",
            "Start Time 14:00:00",
            f"Start Date {start}",
            "Epoch Period (hh:mm:ss) 00:01:00",
            "Download Time 10:12:14",
            f"Download Date {start}",
            "Current Memory Address: 0",
            "Current Battery Voltage: 4.07     Mode = 12",
            "--------------------------------------------------",
            *([form] if form else []),
            *rows,
        ]
    )


def actiwatch() -> str:
    about = ['"Actiware Export File"', '"Identity:","P7"', "", '"Epoch Length:","60","seconds"', ""]
    names = '"Line","Date","Time","Off-Wrist Status","Activity","Marker","Interval Status",'
    rows = [
        f'"{i + 1}","{at.month}/{at.day}/{at.year}","{at:%I:%M:%S %p}","0","{i % 7}","0","ACTIVE",'
        for i, at in enumerate(MOMENTS)
    ]
    return "\n".join([*about, names, *rows])


def geneactiv() -> str:
    about = ["Device Type,GENEActiv", "Device Model,1.1", "Measurement Frequency,0.0166 Hz"]
    about += [""] * (99 - len(about)) + ["Time Zone,GMT +01:00"]
    rows = [
        f"{at:%Y-%m-%d %H:%M:%S}:000,{i % 7},0.5,-0.5,12,0,25.1" for i, at in enumerate(MOMENTS)
    ]
    return "\n".join([*about, *rows])


EXPORTS = {
    "ActiGraph, month first": (
        actigraph("Date,Time,Axis1,Steps", "M/d/yyyy", "10/26/2024",
                  [f"{at.month}/{at.day}/{at.year},{at:%H:%M:%S},{i % 7},0"
                   for i, at in enumerate(MOMENTS)]),
        ("Axis1", "Steps"),
    ),
    "ActiGraph, semicolons": (
        actigraph("Date;Time;Axis1;Lux", "dd.MM.yyyy", "26.10.2024",
                  [f"{at:%d.%m.%Y};{at:%H:%M:%S};{i % 7};0,5" for i, at in enumerate(MOMENTS)]),
        ("Axis1", "Lux"),
    ),
    "ActiGraph, counts only": (
        actigraph("", "M/d/yyyy", "10/26/2024", [f"{i % 7},0,1" for i in range(len(MOMENTS))]),
        ("Axis1", "Axis2", "Axis3"),
    ),
    "Actiwatch": (actiwatch(), ("Off-Wrist Status", "Activity", "Marker")),
    "GENEActiv": (geneactiv(), ("x", "y", "z", "light", "button", "temperature")),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_read_as_it_is(tmp_path: Path, name: str) -> None:
    text, channels = EXPORTS[name]
    (tmp_path / "P7.csv").write_text(text + "\n")
    recordings = read_recordings(tmp_path, zone="Europe/Berlin")
    info = recordings.infos[0]
    assert (info.id, info.channels, info.period, info.start) == ("P7", channels, 60.0, BEGIN)
    assert info.samples == len(MOMENTS)
    hours, _ = info.local_time(np.arange(info.samples))
    assert hours.tolist() == [at.hour for at in MOMENTS]
    column = channels.index("Activity") if "Activity" in channels else 0
    np.testing.assert_array_equal(recordings["P7"].values[:, column], np.arange(len(MOMENTS)) % 7)
    if name == "ActiGraph, semicolons":
        assert (recordings["P7"].values[:, 1] == 0.5).all()
    assert name.split(",")[0] in "\n".join(recordings.notes)


@pytest.mark.parametrize("name", [name for name in EXPORTS if "counts" not in name])
def test_an_export_without_zone_asks_for_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "P7.csv").write_text(EXPORTS[name][0] + "\n")
    with pytest.raises(InputError, match="give the zone in which"):
        read_recordings(tmp_path)
