"""Training: the batches, the optimiser's steps, what is kept, and going on after a kill."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from bdl.binning import Binned
from bdl.encoders import Recurrent, Transformer
from bdl.errors import BdlError, ConfigError, InputError, TrainingError
from bdl.features import Features
from bdl.inference import logits
from bdl.labels import Labels
from bdl.objectives import BDL, EventClassifier
from bdl.targets import Crop
from bdl.training import Training
from bdl.training.augmentation import Augmentation
from bdl.training.batches import Batches, TrainingRecording
from bdl.training.lightning_module import TrainableEncoder
from bdl.training.loop import train
from bdl.training.schedule import learning_rate
from bdl.training.task import TrainingTask

STRIDE = 2
CHANGES = Augmentation(gain=0.2, blanks=0.2, reversal=0.5, symmetric=True)
FEATURES = Features(stride=STRIDE, statistics=("mean",), scaling="none")


def prepared(count: int = 7, seed: int = 0) -> list[TrainingRecording]:
    rng = np.random.default_rng(seed)
    made = []
    for i in range(count):
        bins = int(rng.integers(20, 90))
        samples = bins * STRIDE - int(rng.integers(0, STRIDE))
        values = rng.normal(size=(bins, 3)).astype(np.float32)
        events = np.sort(rng.integers(0, samples, size=3))
        binned = Binned(values, None, None, np.zeros(bins, dtype=np.bool_))
        made.append(TrainingRecording(binned, Labels(str(i), 1.0, samples, (events,))))
    return made


def objective(data: list[TrainingRecording]):
    return BDL().resolve([recording.labels for recording in data], stride=STRIDE)


def batches(data: list[TrainingRecording], epoch: int = 0, **changes) -> Batches:
    settings = {"batch": 3, "seed": 5, "epochs": 9, "augmentation": {}}
    options = {"features": FEATURES, "window": 30, "fixed": False, "steps": 27}
    for name, value in changes.items():
        (settings if name in Training.model_fields else options)[name] = value
    options = {"epoch": lambda: epoch, "training": Training(**settings), **options}
    return Batches(data, objective(data), **options)


def digest(module: nn.Module) -> str:
    total = hashlib.sha256()
    for value in module.state_dict().values():
        total.update(value.numpy().tobytes())
    return total.hexdigest()


def fresh(kind=None) -> nn.Module:
    torch.manual_seed(0)
    return (kind or Recurrent(width=4, blocks=1)).build(3, 1, False)


def task(data, *, directory=None, validate=None, window=30, **changes) -> TrainingTask:
    settings = {"batch": 3, "accelerator": "cpu", **changes}
    if "updates" not in changes:
        settings = {"epochs": 4, **settings}
    options = {name: settings.pop(name) for name in ("tensorboard", "progress") if name in settings}
    return TrainingTask(
        objective(data),
        data,
        Training(**settings),
        FEATURES,
        window,
        1,
        directory=directory,
        identity={"what": "test"},
        validate=validate,
        **options,
    )


def go(module, data, **changes):
    return train(module, task(data, **changes))


# Learning rate


@pytest.mark.parametrize("total", [1, 2, 7, 40, 1000])
def test_rate_warms_up_and_comes_down(total):
    rates = [learning_rate(step, total, 3e-3) for step in range(total)]
    warm = max(1, round(0.1 * total))
    assert rates[0] == pytest.approx(1e-6)
    steps = np.diff(rates)
    assert (steps[:warm] > 0).all()
    assert (steps[warm:] < 0).all()
    if total > 2:
        assert max(rates) == pytest.approx(3e-3)
        assert rates[-1] == pytest.approx(1e-6)


# Batches


def test_every_recording_gives_one_window_an_epoch():
    data = prepared()
    for epoch in range(3):
        made = [*batches(data, epoch)]
        assert [len(batch.values) for batch in made] == [3, 3, 1]
        assert sum(len(batch.values) for batch in made) == len(data)


def test_windows_are_slices_with_their_target_and_padding():
    data = prepared()
    chosen = objective(data)
    places = set()
    for batch in batches(data):
        length = batch.values.shape[1]
        assert length == batch.mask.sum(dim=1).max()
        for values, target, mask in zip(batch.values, batch.target, batch.mask, strict=True):
            size = int(mask.sum())
            assert mask[:size].all()
            assert not values[size:].any()
            assert not target[size:].any()
            for place, recording in enumerate(data):  # noqa: B007
                rows = recording.binned.values
                starts = [
                    first
                    for first in range(len(rows) - size + 1)
                    if np.array_equal(rows[first : first + size], values[:size].numpy())
                ]
                if starts:
                    break
            assert size == min(30, len(rows))
            places.add(place)
            begin = starts[0] * STRIDE
            samples = min(size * STRIDE, recording.labels.samples - begin)
            expected = chosen.target(recording.labels, Crop(begin, samples, STRIDE))
            np.testing.assert_array_equal(target[:size].numpy(), expected)
    assert places == set(range(len(data)))


def test_windows_follow_from_seed_epoch_and_recording():
    data = prepared()
    same = [[drawn.values for drawn in batches(data, 2)] for _ in range(2)]
    assert all(torch.equal(a, b) for a, b in zip(*same, strict=True))
    other = [drawn.values for drawn in batches(data, 3)]
    assert not all(
        a.shape == b.shape and torch.equal(a, b) for a, b in zip(same[0], other, strict=True)
    )
    # The window of a recording does not depend on which batch it falls into.
    by_size = []
    for batch in (1, 7):
        rows = {}
        for drawn in batches(data, 2, batch=batch):
            for values, mask in zip(drawn.values, drawn.mask, strict=True):
                kept = values[mask].numpy()
                rows[kept.tobytes()] = True
        by_size.append(set(rows))
    assert by_size[0] == by_size[1]


def test_fixed_windows_are_padded_to_their_length():
    made = [*batches(prepared(), window=100, fixed=True)]
    assert {batch.values.shape[1] for batch in made} == {100}


def test_the_next_batch_is_made_ahead_and_is_the_same():
    data = prepared()
    now = [0]
    going = batches(data)
    going.epoch = lambda: now[0]
    for epoch in (0, 1, 2, 1):  # a jump back takes nothing that was made for another epoch
        now[0] = epoch
        for ours, fresh_one in zip(going, batches(data, epoch), strict=True):
            assert ours.epoch == epoch
            assert torch.equal(ours.values, fresh_one.values)
            assert torch.equal(ours.target, fresh_one.target)


def test_processes_share_a_batch_without_overlap():
    data = prepared()
    whole = [*batches(data)]
    shares = [[*batches(data, rank=lambda rank=rank: (rank, 2))] for rank in range(2)]
    for i, batch in enumerate(whole):
        seen = [row[:20].numpy().tobytes() for share in shares for row in share[i].values]
        rows = [row[:20].numpy().tobytes() for row in batch.values]
        assert set(seen) == set(rows)
        assert len(seen) == max(len(rows), 2)  # a share of nothing repeats the first window


def test_jitter_moves_labels_only():
    data = prepared()
    plain, moved = next(iter(batches(data))), next(iter(batches(data, jitter=3)))
    assert torch.equal(plain.values, moved.values)
    assert not torch.equal(plain.target, moved.target)


# The loop


def test_training_equals_a_plain_torch_loop():
    data = prepared()
    ours = fresh()
    go(ours, data, learning_rate=3e-3, augmentation={})
    plain = fresh()
    loss = objective(data).loss
    optimizer = torch.optim.Adam(plain.parameters(), lr=3e-3)
    step = 0
    for epoch in range(4):
        for batch in batches(data, epoch, seed=0):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(step, 12, 3e-3)
            optimizer.zero_grad()
            value = loss(plain(batch.values, None, None, batch.mask), batch.target, batch.mask)
            value.backward()
            torch.nn.utils.clip_grad_norm_(plain.parameters(), 0.1)
            optimizer.step()
            step += 1
    for a, b in zip(ours.state_dict().values(), plain.state_dict().values(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-7)


def test_the_same_seed_gives_the_same_bytes_and_leaves_the_generator_alone():
    data = prepared()
    dropout = Transformer(width=8, layers=1, heads=2, dropout=0.3)
    digests = []
    for seed in (1, 1, 2):
        module = fresh(dropout)
        torch.manual_seed(99)
        before = torch.random.get_rng_state()
        go(module, data, seed=seed)
        assert torch.equal(before, torch.random.get_rng_state())
        digests.append(digest(module))
    assert digests[0] == digests[1] != digests[2]


def test_another_precision_trains_and_gives_back_float32():
    data = prepared()
    binned = data[0].binned

    def score(module: nn.Module) -> float:
        return float(logits(module, binned, outputs=1).sum())

    modules = [fresh(), fresh()]
    double = go(modules[0], data, precision="64-true", epochs=2, validate=score)
    single = go(modules[1], data, epochs=2, validate=score)
    assert double.history[1].loss == pytest.approx(single.history[1].loss, rel=1e-4)
    assert double.history[1].score == pytest.approx(single.history[1].score, rel=1e-2)
    assert all(value.dtype == torch.float32 for value in double.checkpoints[2].values())
    assert logits(modules[0], binned, outputs=1).dtype == np.float32


def test_history_and_best_epoch():
    data = prepared()
    scores = iter([0.1, 0.7, 0.7, 0.3])
    kept = go(fresh(), data, checkpoint_epochs=(1, 2, 3), validate=lambda module: next(scores))
    assert [row.epoch for row in kept.history] == [1, 2, 3, 4]
    assert [row.score for row in kept.history] == [0.1, 0.7, 0.7, 0.3]
    assert kept.best == 2
    assert [*kept.checkpoints] == [1, 2, 3, 4]
    assert kept.history[-1].steps == 12
    assert kept.history[-1].loss < kept.history[0].loss


# Going on after a stop


class StopError(Exception):
    """Whatever ends a process."""


@pytest.mark.parametrize(
    ("stop", "error", "changes"),
    [
        (1, StopError, {}),
        (2, KeyboardInterrupt, {"augmentation": CHANGES}),
        (4, StopError, {}),
        (3, StopError, {"average": 0.4}),
        (2, StopError, {"updates": 11, "per_length": False}),
    ],
)
def test_a_stopped_run_goes_on_to_the_same_bytes(tmp_path, stop, error, changes):
    data = prepared()
    kind = Transformer(width=8, layers=1, heads=2, dropout=0.3)
    whole = fresh(kind)
    epochs = {"checkpoint_epochs": (1, 2, 3), **changes}
    kept = go(whole, data, validate=lambda module: 0.5, **epochs)
    calls = []

    def fails(module):
        calls.append(1)
        if len(calls) == stop:
            raise error
        return 0.5

    module = fresh(kind)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(error):
        go(module, data, directory=tmp_path / "run", validate=fails, **epochs)
    assert signal.getsignal(signal.SIGINT) is handler
    again = fresh(kind)
    resumed = go(again, data, directory=tmp_path / "run", validate=lambda module: 0.5, **epochs)
    assert digest(again) == digest(whole)
    assert [(r.epoch, r.steps, r.loss, r.score) for r in resumed.history] == [
        (r.epoch, r.steps, r.loss, r.score) for r in kept.history
    ]
    assert resumed.best == kept.best
    for epoch, weights in kept.checkpoints.items():
        for name, value in weights.items():
            assert torch.equal(value, resumed.checkpoints[epoch][name])
    # A finished run is not trained again.
    third = fresh(kind)
    go(third, data, directory=tmp_path / "run", validate=fails, **epochs)
    assert digest(third) == digest(whole)
    assert len(calls) == stop


@pytest.mark.slow
def test_a_killed_process_goes_on_to_the_same_bytes(tmp_path):
    script = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        sys.path.insert(0, sys.argv[2])
        import test_training as tests
        data = tests.prepared()
        module = tests.fresh()
        slow = lambda module: time.sleep(0.1) or 0.5
        tests.go(module, data, directory=Path(sys.argv[1]), epochs=12, validate=slow,
                 checkpoint_epochs=tuple(range(1, 12)))
        print(tests.digest(module))
        """
    )
    here = str(Path(__file__).parent)

    def start(directory: Path) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-c", script, str(directory), here], stdout=subprocess.PIPE, text=True
        )

    whole = start(tmp_path / "whole").communicate()[0]
    rng = np.random.default_rng(0)
    history = tmp_path / "killed" / "history.csv"
    for rows in (1, 4, 8):
        process = start(tmp_path / "killed")
        while not history.exists() or history.read_text().count("\n") <= rows:
            time.sleep(0.005)
        time.sleep(float(rng.uniform(0, 0.15)))
        os.kill(process.pid, signal.SIGKILL)
        assert process.communicate()[0] == ""
    assert start(tmp_path / "killed").communicate()[0] == whole != ""


def test_what_a_run_directory_holds(tmp_path):
    go(fresh(), prepared(), directory=tmp_path / "run", checkpoint_epochs=(2,))
    names = sorted(file.name for file in (tmp_path / "run").iterdir())
    assert names == [
        "epoch-002.safetensors",
        "epoch-004.safetensors",
        "history.csv",
        "last.ckpt",
        "run.json",
    ]
    lines = (tmp_path / "run" / "history.csv").read_text().splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("epoch,steps,loss")


def test_another_training_in_the_directory_is_refused(tmp_path):
    go(fresh(), prepared(), directory=tmp_path / "run")
    record = tmp_path / "run" / "run.json"
    record.write_text(json.dumps({"what": "other"}))
    with pytest.raises(ConfigError, match=r"contains another training \(it differs in what\)"):
        go(fresh(), prepared(), directory=tmp_path / "run")
    for damage in ("{", "[" * 100_000, "[]", "\x00"):
        record.write_text(damage)
        with pytest.raises(BdlError, match=r"run\.json: (not JSON|a mapping of keys expected)"):
            go(fresh(), prepared(), directory=tmp_path / "run")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="but no training run"):
        go(fresh(), prepared(), directory=tmp_path / "other")


def test_a_damaged_checkpoint_is_named(tmp_path):
    go(fresh(), prepared(), directory=tmp_path / "run")
    last = tmp_path / "run" / "last.ckpt"
    last.write_bytes(last.read_bytes()[:500])
    with pytest.raises(InputError, match=r"last\.ckpt: cannot be resumed from"):
        go(fresh(), prepared(), directory=tmp_path / "run")


def test_weights_of_a_kept_epoch_that_changed_are_named(tmp_path):
    """One bit would change the detector silently."""
    go(fresh(), prepared(), directory=tmp_path / "run", checkpoint_epochs=(2,))
    weights = tmp_path / "run" / "epoch-002.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(InputError, match=r"epoch-002\.safetensors: altered since it was written"):
        go(fresh(), prepared(), directory=tmp_path / "run", checkpoint_epochs=(2,))


def test_a_checkpoint_cannot_run_code(tmp_path):
    go(fresh(), prepared(), directory=tmp_path / "run")

    class Evil:
        def __reduce__(self):
            return (Path(tmp_path / "ran").touch, ())

    torch.save({"state_dict": Evil()}, tmp_path / "run" / "last.ckpt")
    with pytest.raises(InputError, match="cannot be resumed from"):
        go(fresh(), prepared(), directory=tmp_path / "run")
    assert not (tmp_path / "ran").exists()


# What goes wrong


class Bad(nn.Module):
    """Gives what a broken model gives, from a certain call on."""

    def __init__(self, after: int, value: float):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3, 1))
        self.after, self.value, self.calls = after, value, 0

    def forward(self, values, hour, weekday, mask):
        self.calls += self.training
        logits = values @ self.weight
        return logits + self.value if self.calls > self.after else logits


def test_a_loss_that_is_no_number_stops_training_and_keeps_the_last_good_epoch(tmp_path):
    with pytest.raises(TrainingError, match="the loss became nan in epoch 3, step 2"):
        go(Bad(7, float("nan")), prepared(), directory=tmp_path / "run")
    last = torch.load(tmp_path / "run" / "last.ckpt", weights_only=True)
    assert last["epoch"] == 1  # the second, counted from 0
    assert all(torch.isfinite(value).all() for value in last["state_dict"].values())


def test_a_loss_that_runs_away_stops_training():
    with pytest.raises(TrainingError, match="diverged in epoch 2, step 1"):
        go(Bad(3, 1e9), prepared())


def test_weights_that_are_no_numbers_are_never_kept(tmp_path):
    class Explodes(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(3, 1))
            self.register_buffer("seen", torch.zeros(1))

        def forward(self, values, hour, weekday, mask):
            self.seen += 1 if self.seen < 5 else float("nan")
            return values @ self.weight

    with pytest.raises(TrainingError, match="weights of seen are not finite after epoch 2"):
        go(Explodes(), prepared(), directory=tmp_path / "run")
    last = torch.load(tmp_path / "run" / "last.ckpt", weights_only=True)
    assert last["epoch"] == 0


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (lambda values: values[..., :2], r"shape \(3, 30, 1\).*got \(3, 30, 2\)"),
        (lambda values: values.mean(dim=1), r"got \(3, 3\)"),
        (lambda values: None, "got NoneType"),
    ],
)
def test_a_module_of_the_wrong_shape_is_named(output, message):
    class Wrong(nn.Linear):
        def forward(self, values, hour, weekday, mask):
            return output(super().forward(values))

    with pytest.raises(ConfigError, match=message):
        go(Wrong(3, 3), prepared())


def test_no_recordings():
    with pytest.raises(InputError, match="at least one recording"):
        TrainingTask(EventClassifier(), [], Training(), FEATURES, 10, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"batch": 0},
        {"learning_rate": -1.0},
        {"clip": 0.0},
        {"seed": -1},
        {"jitter": -1},
        {"precision": "12-bit"},
        {"epochs": 3, "checkpoint_epochs": (5,)},
        {"epochs": 3, "checkpoint_epochs": (0,)},
        {"epoch": 3},
        {"epochs": 3, "updates": 9},
        {"updates": 0},
        {"checkpoints": 2, "checkpoint_epochs": (3,)},
    ],
)
def test_settings_are_checked(wrong):
    with pytest.raises(ConfigError):
        Training(**wrong)


def test_lightning_is_quiet(capfd, recwarn):
    go(fresh(), prepared(), epochs=1)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
    assert not [str(warning.message) for warning in recwarn if "lightning" in str(warning.filename)]


def test_a_progress_bar_is_on_standard_error_and_shows_the_loss(capfd):
    go(fresh(), prepared(), epochs=2, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "Epoch" in err
    assert "loss" in err


def test_tensorboard_gets_the_history(tmp_path):
    data = prepared()
    with pytest.raises(ConfigError, match="needs a directory"):
        go(fresh(), data, tensorboard=True)
    go(fresh(), data, epochs=1, directory=tmp_path / "run", tensorboard=True)
    assert [*(tmp_path / "run" / "tensorboard").glob("events.out.tfevents.*")]


def test_long_recordings_give_as_many_windows_as_fit():
    data = prepared()
    lengths = [len(recording.binned) for recording in data]
    drawn = batches(data, window=10, per_length=True)
    assert len(drawn.draws) == sum(max(1, round(length / 10)) for length in lengths)
    rows = [batch.values for batch in drawn]
    assert sum(len(values) for values in rows) == len(drawn.draws)
    again = [batch.values for batch in batches(data, window=10, per_length=True)]
    assert all(torch.equal(row, other) for row, other in zip(rows, again, strict=True))


# Averaged weights


@pytest.mark.parametrize("average", [0.01, 0.3, 1.0])
def test_averaged_weights_are_the_running_mean_of_the_steps(average, monkeypatch):
    data = prepared()
    steps: list[dict[str, torch.Tensor]] = []
    original = TrainableEncoder.on_train_batch_end

    def noted(self, *given):
        steps.append({k: v.double().clone() for k, v in self.encoder.state_dict().items()})
        original(self, *given)

    monkeypatch.setattr(TrainableEncoder, "on_train_batch_end", noted)
    module = fresh()
    scored = []
    result = go(
        module, data, average=average, validate=lambda trained: scored.append(digest(trained)) or 0
    )
    assert scored == [digest(module)]
    horizon = max(1, average * len(steps))
    for name, value in module.state_dict().items():
        mean = steps[0][name]
        for count, step in enumerate(steps[1:], start=1):
            mean = mean + (step[name] - mean) / min(count + 1, horizon)
        torch.testing.assert_close(value.double(), mean, rtol=1e-5, atol=1e-6)
        assert torch.equal(result.checkpoints[4][name], value)


# Length in updates


def test_updates_count_steps_and_the_last_epoch_may_be_short():
    data = prepared()
    result = go(fresh(), data, updates=10, per_length=False)  # three batches per epoch
    assert [row.epoch for row in result.history] == [1, 2, 3, 4]
    assert [row.steps for row in result.history] == [3, 6, 9, 10]
    assert result.history[-1].learning_rate == pytest.approx(1e-6, rel=1e-3)
    assert result.best == 4
    two = go(fresh(), data, updates=10, per_length=False, checkpoints=2)
    assert [*two.checkpoints] == [2, 4]
    short = go(fresh(), data, updates=2, per_length=False)
    assert [row.steps for row in short.history] == [2]


def test_whole_epochs_of_updates_are_the_same_training():
    data = prepared()
    modules = [fresh(), fresh()]
    go(modules[0], data, epochs=3)
    go(modules[1], data, updates=9, per_length=False)
    assert digest(modules[0]) == digest(modules[1])


def test_epochs_beyond_the_updates_are_refused():
    for wrong in ({"stop_after": 5}, {"checkpoint_epochs": (5,)}):
        with pytest.raises(ConfigError, match="beyond the 4 epochs"):
            go(fresh(), prepared(), updates=10, per_length=False, **wrong)
