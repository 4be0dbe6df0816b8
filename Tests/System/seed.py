"""The seed of all that is random in these tests: POI_TEST_SEED, which repeats a run."""

import os
import random

SEED = int(os.environ.setdefault("POI_TEST_SEED", str(random.SystemRandom().randrange(1 << 32))))
