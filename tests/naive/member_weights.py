"""The likelihood of held-out events under a weighted mean of densities, bin by bin."""

import math

FLOOR = 1e-9


def naive_loss(recordings, weights, *, bounded):
    """Negative log-likelihood, summed over the bins that count."""
    loss = 0.0
    for recording in recordings:
        for b, target in enumerate(recording.target[:, 0].tolist()):
            if recording.counted is not None and not recording.counted[b]:
                continue
            values = [float(member.values[b, 0]) for member in recording.members]
            mean = sum(w * max(v, FLOOR) for w, v in zip(weights, values, strict=True))
            if bounded:
                loss -= target * math.log(mean) + (1 - target) * math.log(1 - mean)
            else:
                loss += mean - target * math.log(mean)
    return loss
