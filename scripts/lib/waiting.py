"""How the checks wait for what other processes do."""

import time


def wait_for(condition, seconds, what):
    """Waits until the condition's value is true, and returns it; raises TimeoutError, which names what was waited for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise TimeoutError(f"{what}: not within {seconds} s")
