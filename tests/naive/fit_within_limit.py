"""Fits a detector on a store with so many bytes of memory beyond what the libraries take."""

import resource
import sys
from pathlib import Path

from bdl import Detector, read_events, read_recordings
from bdl.encoders import Recurrent
from learning import quick, spikes


def vm_data() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData"))


def main(folder: Path, allowance: int) -> None:
    detector = Detector(**quick(stride=4, encoder=Recurrent(width=8, blocks=1), window=400.0))
    few, events = spikes(2)
    detector.fit(few, events)  # whatever libraries load at their first use is loaded
    resource.setrlimit(resource.RLIMIT_DATA, (vm_data() + allowance,) * 2)
    detector.fit(read_recordings(folder / "store"), read_events(folder / "events.csv"))
    detector.save(folder / "model")
    print("fitted")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
