"""Fits a small detector on so many CPU processes; the first one writes the loss of each epoch."""

import json
import os
import sys
from pathlib import Path

import torch

from bdl import Detector
from learning import quick, spikes


def main(devices: int, model: str) -> None:
    data, events = spikes(7)  # the last batch of an epoch has 3 windows, or 1 for two processes
    detector = Detector(**quick(devices=devices, batch=3, epochs=4)).fit(data, events)
    if os.environ.get("LOCAL_RANK", "0") == "0":
        detector.save(model)
        together = torch.distributed.is_initialized()
        output = {
            "losses": [epoch.loss for epoch in detector.history_],
            "processes": torch.distributed.get_world_size() if together else 1,
        }
        Path(f"{model}.json").write_text(json.dumps(output))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
