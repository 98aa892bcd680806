"""Fits a small detector on two workers of a local Ray cluster, as `fit_on_devices` does."""

import sys

import ray
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer

from naive.fit_on_devices import main


def train(config: dict[str, str]) -> None:
    main(2, config["model"])


if __name__ == "__main__":
    model, folder = sys.argv[1:]
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    TorchTrainer(
        train,
        train_loop_config={"model": model},
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(storage_path=folder),
    ).fit()
    ray.shutdown()
