"""The start page in Debian's chromium, driven by selenium."""

import base64
import json
import os
import re
import threading
import urllib.parse
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from selenium import webdriver
from selenium.webdriver.common.by import By

from processes import wait_for

KEY = "0123456789abcdef"
DESKTOP, PHONE = (1440, 900), (390, 844)
SAN_JOSE = "at=37.3313,-121.889,16"
# Takes the timer of the strip away from the clock; it moves on when the check says so.
FAKE_CLOCK = """
    const real = window.setInterval;
    window.setInterval = (work, milliseconds, ...rest) => {
        if (milliseconds !== 10000) return real(work, milliseconds, ...rest);
        window.tenSecondsPass = work;
        return 0;
    };
"""


class Page:
    """The page in a browser, as a person and as an assistive technology find it."""

    def __init__(self):
        self.server = None
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--accept-lang=en-IE,en"]:
            options.add_argument(argument)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
        self.driver.set_script_timeout(60)
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=FAKE_CLOCK)

    def ask(self, path, **query):
        """The service's own response, past the page."""
        return self.server.json(f"/{path}?{urllib.parse.urlencode(query)}", {"Authorization": f"Bearer {KEY}"})

    def wait_for_places(self, count, **center):
        """The places around a centre, once the service has seen the change."""
        def places():
            found = self.ask("locations", **center, radius=5000)
            return found if len(found) >= count else None

        return wait_for(places, 30, f"{count} places")

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def open(self, fragment=SAN_JOSE, size=DESKTOP, scheme="light", motion="no-preference", forced="none",
             is_settled=True):
        """Loads the page anew, with nothing in the browser's cache."""
        self.cdp("Network.clearBrowserCache")
        self.cdp("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1,
                 mobile=size == PHONE)
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion},
            {"name": "forced-colors", "value": forced}])
        self.driver.get("about:blank")
        self.driver.get(f"{self.server.url}/#{fragment}")
        if is_settled:
            self.settle()

    def js(self, expression, *arguments):
        return self.driver.execute_script(f"return ({expression})", *arguments)

    def wait(self, expression, *arguments):
        """Waits until an expression holds, and returns its value; half a minute without it is a failure."""
        try:
            return wait_for(lambda: self.js(expression, *arguments), 30, f"{expression} {arguments}")
        except TimeoutError as error:
            raise AssertionError(f"{error}; {self.js('document.body.innerText')[:400]!r}") from None

    def settle(self):
        """Waits until everything that was asked for is there."""
        self.wait("!!document.querySelector('#summary:not(:empty)') && document.getElementById('progress').hidden "
                  "&& !!document.querySelector('.leaflet-container, body[data-map=missing]')")

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def click(self, selector):
        self.find(selector).click()

    def text(self, selector):
        return self.js("document.querySelector(arguments[0]).textContent", selector)

    def listed(self):
        return self.js("[...document.querySelectorAll('#results [data-id]')].map((made) => Number(made.dataset.id))")

    def drawn(self):
        """The number of places on the map, in clusters and alone, and the ids of the latter."""
        labels = self.js("[...document.querySelectorAll('.spot')].map((made) => [made.getAttribute('aria-label'), made.dataset.id])")
        counts = [re.match(r"([\d,]+) places?, (?:zoom in|list them)$", label) for label, id in labels if id is None]
        alone = [int(id) for _, id in labels if id is not None]
        return sum(int(match[1].replace(",", "")) for match in counts) + len(alone), set(alone)

    def middle(self):
        """The map's middle, as the address has it."""
        latitude, longitude, _ = re.search(r"at=([^&]*)", self.js("location.hash"))[1].split(",")
        return {"lat": latitude, "long": longitude}

    def faults(self):
        """What the console has said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def watch_requests(self):
        """Every address that was asked for since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


# One red pixel.
TILE = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")


@contextmanager
def tile_server():
    """A host of red tiles: its address, and the path and the referrer of each request so far."""
    requests = []

    class Tiles(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append((self.path, self.headers["Referer"]))
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.send_header("Content-Length", str(len(TILE)))
            self.end_headers()
            self.wfile.write(TILE)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Tiles) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", requests
        server.shutdown()


@contextmanager
def visited(page, server, *others):
    """The page of a server; afterwards, no host was asked but it and the others, and the console has said nothing that a test
    didn't expect."""
    page.server = server
    page.driver.get("about:blank")
    page.watch_requests()
    page.faults()
    yield page
    assert not [url for url in page.watch_requests() if not url.startswith((server.url + "/", "data:", "about:", *others))]
    assert not page.faults()
