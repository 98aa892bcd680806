"""Tests share few cores: threads of torch that wait must sleep, not spin.

With two test processes on two cores, waiting by spinning makes every small training step take ten
times as long. The setting counts only before torch is loaded.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
