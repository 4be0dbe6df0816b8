"""`poi serve` under callgrind, whose requests are counted in instructions."""

import signal
import time

from callgrind import TIMEOUT_SECONDS, CountedProgram, KeptConnection
from processes import wait_for
from request_cases import TARGETS, request

# How much two counts may differ.
AGREEMENT = 1.02
# The fewest counts of a case, and the most.
FEWEST, ATTEMPTS = 4, 10
IDLE_SECONDS = 5
COUNTED = {
    "PORT": "0",
    "POI_ADMIN_PORT": "0",
    "POI_LOOPS": "1",
    "POI_DRAIN_DELAY": "0s",
    # Else copies of a few kilobytes are one instruction for each byte where the processor says that it is good at that.
    "GLIBC_TUNABLES": "glibc.cpu.x86_rep_movsb_threshold=1073741824:glibc.cpu.x86_rep_stosb_threshold=1073741824",
    # Valgrind is slow: a time limit that is reached would be counted as a request.
    "POI_REQUEST_TIMEOUT": "30s",
    "POI_DB_STATEMENT_TIMEOUT": "30s",
    "POI_DB_ACQUIRE_TIMEOUT": "30s",
}


class CountedServer(CountedProgram):
    """`poi serve` under callgrind, connected to and ready."""

    def __init__(self, folder, program, settings):
        super().__init__(folder, program, ["serve"], COUNTED | settings, counts_at_once=False)

    def __enter__(self):
        try:
            self.warm_up()
            self.begin()
        except BaseException:
            super().__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.wait()
        finally:
            super().__exit__()
        assert self.process.returncode == 0

    def warm_up(self):
        """Connects, waits until it is ready, and sends first requests."""
        port = int(self.first_line().rsplit(":", 1)[1].rstrip("/\n"))
        self.connection = KeptConnection(port)
        wait_for(lambda: self.connection.response(request("/readyz"))[0] == 200, TIMEOUT_SECONDS, "the server is ready")
        # Twice, since the first requests teach the server where places are.
        for target in TARGETS * 2:
            self.connection.response(request(target))

    def send(self, case):
        """Sends a case's requests, and checks their responses; returns how many seconds that took."""
        requests = case.make(case.count, self.connection.response)
        self.instructions()
        start = time.monotonic()
        for message in requests:
            assert case.fault(*self.connection.response(message)) is None
        return time.monotonic() - start

    def begin(self):
        """Counts from now on, first what the server does in some seconds without requests.

        Places in memory are verified by their follower's thread, once a second and by far the most of that: too much and too
        seldom to be taken off. So that thread doesn't count.
        """
        super().begin()
        self.instructions()
        start = time.monotonic()
        time.sleep(IDLE_SECONDS)
        counts = self.instructions_of_threads()
        duration = time.monotonic() - start
        self.ignored_threads.add(max(counts, key=counts.get))
        self.idle_rate = sum(count for thread, count in counts.items() if thread not in self.ignored_threads) / duration

    def measure(self, case, keep):
        """The instructions of a request: the lowest count that another one agrees with.

        Whatever else the server does meanwhile only adds, so it counts on until the lowest is confirmed. One that none of many
        others comes near, such as that of events written in fewer batches than ever again, says nothing.
        """
        self.send(case)
        counts = []
        while len(counts) < FEWEST or counts[1] > counts[0] * AGREEMENT and len(counts) < ATTEMPTS:
            seconds = self.send(case)
            total = self.instructions(keep and f"{keep}/{case.name}.callgrind")
            counts.append(round((total - self.idle_rate * seconds) / case.count))
            counts.sort()
        lowest = lowest_agreed(counts)
        assert lowest is not None, f"no two counts agree within 2 %: {counts}"
        return lowest


def lowest_agreed(counts):
    """The lowest of sorted counts whose next one is within `AGREEMENT` of it."""
    return next((low for low, high in zip(counts, counts[1:]) if high <= low * AGREEMENT), None)
