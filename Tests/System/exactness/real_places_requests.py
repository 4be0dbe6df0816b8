"""How test_real_places.py sends requests: one by one, at a fixed rate, and as fast as they are answered."""

import http.client
import os
import re
import threading
import time
from collections import Counter
from urllib.parse import urlencode

RATE = 100
SENDERS = 16
CLIENTS = 8


def target_of(question):
    parameters = dict(question)
    if "bbox" in question:
        parameters["bbox"] = ",".join(map(repr, question["bbox"]))
    if "category" in question:
        parameters["category"] = ",".join(question["category"])
    if "featured" in question:
        parameters["featured"] = str(question["featured"]).lower()
    return "/locations?" + urlencode(parameters)


def get(connection, target):
    """The status, the body and the next page's target."""
    connection.request("GET", target)
    response = connection.getresponse()
    body = response.read()
    link = re.match(r'<(\?[^>]*)>; rel="next"$', response.headers.get("Link", ""))
    return response.status, body, "/locations" + link[1] if link else None


def in_threads(count, work):
    """Runs work(number) in each of some threads, and returns all times and statuses that they add."""
    times, statuses = [], Counter()

    def run(number):
        own_times, own_statuses = work(number)
        with lock:
            times.extend(own_times)
            statuses.update(own_statuses)

    lock = threading.Lock()
    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, statuses


def status_of(connection, target):
    try:
        return get(connection, target)[0]
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        return type(error).__name__


def ask_at_rate(port, targets, seconds):
    """Sends RATE requests a second, and takes each one's time from when it was due: one that waits counts as slow."""
    # What is measured is the server, not how long this process waits for a core.
    os.setpriority(os.PRIO_PROCESS, 0, -10)
    begin = time.monotonic() + 0.2

    def work(number):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        times, statuses = [], Counter()
        for turn in range(number, RATE * seconds, SENDERS):
            due = begin + turn / RATE
            time.sleep(max(0, due - time.monotonic()))
            statuses[status_of(connection, targets[turn % len(targets)])] += 1
            times.append(time.monotonic() - due)
        return times, statuses

    return in_threads(SENDERS, work)


def ask_in_a_row(port, targets, seconds):
    """Lets CLIENTS send the targets, each the next one as soon as it has a response."""
    # Clients are elsewhere as a rule, and take no core from the server.
    os.setpriority(os.PRIO_PROCESS, 0, 10)
    end = time.monotonic() + seconds

    def work(number):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        times, statuses = [], Counter()
        while time.monotonic() < end:
            start = time.monotonic()
            statuses[status_of(connection, targets[(number + len(times)) % len(targets)])] += 1
            times.append(time.monotonic() - start)
        return times, statuses

    return in_threads(CLIENTS, work)
