"""Settings of all tests.

Importing the package before torch sets the wait policy of its threads, which share few cores here
(`bdl.wait_policy`). Small inputs go through compiled functions too, since these are what is tested.
No test depends on the load of the machine, so hypothesis has no deadline.
"""

from hypothesis import settings

import bdl.compiled

collect_ignore = ["tests/outside"]  # another package, which `tests/test_variants.py` installs

bdl.compiled.PATIENCE = 0
settings.register_profile("bdl", deadline=None)
settings.load_profile("bdl")
