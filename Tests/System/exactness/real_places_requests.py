"""How questions about real_places.py's places are sent: one by one, at a fixed rate, and as fast as they are
answered."""

import itertools
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

from servers import Client


def target_of(question):
    parameters = dict(question)
    if "bbox" in question:
        parameters["bbox"] = ",".join(map(repr, question["bbox"]))
    if "category" in question:
        parameters["category"] = ",".join(question["category"])
    if "featured" in question:
        parameters["featured"] = str(question["featured"]).lower()
    return "/locations?" + urlencode(parameters)


def ask(client, target):
    """The status, the body and the next page's target."""
    status, headers, body = client.request("GET", target)
    link = re.match(r'<(\?[^>]*)>; rel="next"$', headers.get("Link", ""))
    return status, body, "/locations" + link[1] if link else None


def ask_many(port, targets, seconds, clients, priority, rate=None, address="127.0.0.1"):
    """Lets clients of an address send the targets, each the next one as soon as it has a response; or at a rate, where a
    request's time counts from when it was due: one that waits counts as slow. Returns the times and the statuses."""
    os.setpriority(os.PRIO_PROCESS, 0, priority)
    begin, seen = time.monotonic() + 0.2, []

    def work(number):
        client = Client(port, timeout=60, source_address=(address, 0))
        for turn in itertools.count(number, clients):
            due = begin + turn / rate if rate else time.monotonic()
            if due >= begin + seconds:
                return
            time.sleep(max(0, due - time.monotonic()))
            status, _, _ = client.request("GET", targets[turn % len(targets)])
            seen.append((time.monotonic() - due, status))

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(work, range(clients)))
    return tuple(zip(*seen))
