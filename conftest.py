"""Settings of all tests.

Importing the package before torch sets the wait policy of its threads, which share few cores here
(`bdl.wait_policy`). Small inputs go through compiled functions too, since these are what is tested.
"""

import bdl.compiled

bdl.compiled.PATIENCE = 0
