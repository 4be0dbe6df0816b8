"""An editor's day at the page: twelve tasks, each by pointing and by the keyboard alone, on a desktop and on a phone. What becomes
of the places is asked of the service, and what others do meanwhile is done past the page."""

import hashlib
import importlib.util
import json
import subprocess
import urllib.error
import urllib.request
import uuid
from itertools import count
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from hands import Keyboard, Pointer
from processes import wait_for
from psql import psql
from servers import Server
from start_page import DESKTOP, PHONE, visited

KEY, OTHER_KEY = "an-editors-key-of-anna", "an-editors-key-of-bela"
HOSTILE = '<img src=x onerror="window.hostile=1"><script>window.hostile=1</script>'
# Each task has a part of the sea to itself.
latitudes = count(-1000)
ONLINE = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}


@pytest.fixture(scope="module")
def editing_server(server, poi, tmp_path_factory):
    """A server with two editors, which takes reports, before the module's database."""
    editors = tmp_path_factory.mktemp("editors") / "editors"
    editors.write_text("".join(f"{name} {hashlib.sha256(key.encode()).hexdigest()}\n" for name, key in [("anna", KEY), ("bela", OTHER_KEY)]))
    with Server(poi, server.database, settings={"POI_EDITORS_FILE": str(editors), "POI_REPORTS": "on"}) as editing_server:
        yield editing_server


@pytest.fixture
def page(browser, editing_server, pytestconfig):
    with visited(browser, editing_server) as page:
        page.folder = pytestconfig.getoption("--screenshots")
        yield page
        page.driver.get(f"{editing_server.url}/#at=0,0,3")
        page.driver.execute_script("localStorage.clear(); sessionStorage.clear()")
        # Without a key it is asked for.
        expect_faults(page, "401")


@pytest.fixture(params=[(hand, size) for hand in (Pointer, Keyboard) for size in (DESKTOP, PHONE)],
                ids=lambda param: f"{param[0].__name__.lower()}-{'desktop' if param[1] == DESKTOP else 'phone'}")
def editor(request, page):
    return Editor(page, *request.param)


class Editor:
    """Somebody who edits by the page, and what the service knows afterwards."""

    def __init__(self, page, hand, size):
        self.page, self.size, self.hand = page, size, hand(page)
        self.latitude = next(latitudes) / 20
        self.press, self.fill, self.choose = self.hand.press, self.hand.fill, self.hand.choose

    def request(self, method, path, body=None, key=OTHER_KEY, **headers):
        """Something that another editor does."""
        data = None if body is None else json.dumps(body).encode()
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        asked = urllib.request.Request(f"{self.page.server.url}{path}", data, {
            "Authorization": f"Bearer {key}", "Content-Type": kind, **{name.replace("_", "-"): text for name, text in headers.items()}}, method=method)
        with urllib.request.urlopen(asked) as response:
            text = response.read()
            return json.loads(text) if text else None

    def place(self, name="Café Alpha", **members):
        """A new place, which isn't of anybody's source."""
        found = self.request("POST", "/locations", {"name": name, "category": "cafe", "latitude": self.latitude, "longitude": 60, **members})
        self.page.wait_for_places(1, lat=self.latitude, long=60)
        return found["id"]

    def record(self, id):
        return self.request("GET", f"/locations/{id}/record")

    def correct(self, id, **members):
        return self.request("PATCH", f"/locations/{id}", members, If_Match="*")

    def is_gone(self, id):
        try:
            return self.record(id) is None
        except urllib.error.HTTPError as error:
            return error.code == 410

    def is_merged(self, id, into):
        try:
            return self.record(id) is None
        except urllib.error.HTTPError as error:
            return error.code == 409 and json.load(error)["mergedInto"] == into

    def open(self, fragment):
        """The page in edit mode."""
        self.page.open(f"{fragment}&edit=1", self.size, is_settled=False)
        self.page.wait("document.getElementById('edit-bar') || document.getElementById('key-dialog').open")
        if self.page.js("document.getElementById('key-dialog').open"):
            self.page.find("#key").send_keys(KEY, Keys.ENTER)
        self.page.wait("!!document.getElementById('edit-bar')")
        self.page.settle()

    def open_place(self, id):
        self.open(f"place={id}")
        self.page.wait("document.querySelector('.edit-tools .secondary')")

    def wait_for_done(self, text):
        """What the bar says."""
        self.page.wait("document.getElementById('done').textContent.includes(arguments[0])", text)
        self.page.settle()
        return self.page.text("#done")

    def look(self, name):
        """A picture, and what axe-core finds."""
        if self.page.folder:
            self.page.folder.mkdir(parents=True, exist_ok=True)
            kind = f"{'desktop' if self.size == DESKTOP else 'phone'}-{self.page.js('matchMedia(`(prefers-color-scheme: dark)`).matches') and 'dark' or 'light'}"
            self.page.driver.save_screenshot(str(self.page.folder / f"edit-{name}-{kind}.png"))
        axe = Path(importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0], "axe.min.js").read_text()
        self.page.driver.execute_script(axe)
        found = self.page.driver.execute_async_script(
            "axe.run(document, {resultTypes: ['violations']}).then(({ violations }) => arguments[0](violations.map(({ id, nodes }) => "
            "[id, nodes.map(({ html }) => html).slice(0, 3)])), (error) => arguments[0](String(error)))")
        assert not found, (name, found)
        assert self.page.js("document.documentElement.scrollWidth") == self.size[0], name


def expect_faults(page, *texts):
    """The console has said nothing but that."""
    unexpected = [fault for fault in page.faults() if not any(text in fault for text in texts)]
    assert not unexpected, unexpected


def test_a_pharmacy_near_a_station(editor):
    page, hand = editor.page, editor.hand
    station, near, far = (f"{word}{''.join(chr(ord('a') + int(digit)) for digit in f'{-editor.latitude:.2f}' if digit != '.')}" for word in ("Terminus", "Near", "Far"))
    psql(page.server.database, f"""
        INSERT INTO locations (name, category, latitude, longitude) VALUES ('{station}', 'transit_station', {editor.latitude}, 60),
        ('{near} Pharmacy', 'pharmacy', {editor.latitude} + 0.001, 60), ('{far} Pharmacy', 'pharmacy', {editor.latitude} + 0.01, 60)""")
    page.wait_for_places(3, lat=editor.latitude, long=60)
    page.cdp("Browser.grantPermissions", origin=page.server.url, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    page.open("", editor.size)
    for text, expected in [(station, [station]), ("pharmacy", [f"{near} Pharmacy", f"{far} Pharmacy"])]:
        editor.fill("Search places by name, or enter a position", text, "body")
        page.wait("(([found, ...rest]) => found === arguments[0][0] && (arguments[0].length === 1 || rest.includes(arguments[0][1])))"
                  "([...document.querySelectorAll('#results .name')].map((made) => made.textContent))", expected)
        page.settle()
        if editor.size == PHONE and page.js("document.body.dataset.view") == "map":
            hand.show_list()
        editor.press(page.js("document.querySelector('#results button').textContent.trim().replace(/\\s+/g, ' ')"), "#results")
        page.wait("document.getElementById('detail-name')?.textContent === arguments[0]", expected[0])
        page.settle()
        if text == station:
            editor.press("What is near", "#detail")
            page.wait("document.getElementById('detail').hidden")
            page.settle()
    editor.press("Copy link", "#detail")
    page.wait("document.querySelector('#detail').textContent.includes('Copied')")
    copied = page.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert copied.endswith(f"#place={page.ask('locations', lat=editor.latitude + 0.001, long=60, limit=1)[0]['id']}")


def test_a_name_is_corrected(editor):
    id = editor.place()
    editor.open_place(id)
    editor.press("Correct", ".edit-tools")
    editor.fill("Name", "Café Älpha")
    editor.fill("Opening hours", "Mo-Fr 09:00-18:00; Sa 10:00-14:00")
    assert editor.page.find(".preview").text.split("\n")[4:] == ["Friday 09:00–18:00", "Saturday 10:00–14:00", "Sunday closed"]
    editor.look("form")
    editor.press("Save", "#desk")
    assert "“Café Alpha” → “Café Älpha”" in editor.wait_for_done("Corrected Café Älpha")
    record = editor.record(id)
    assert (record["name"], record["properties"]) == ("Café Älpha", {"opening_hours": "Mo-Fr 09:00-18:00; Sa 10:00-14:00"})
    assert editor.page.text("#detail-name") == "Café Älpha"
    assert editor.page.js("document.getElementById('detail').contains(document.activeElement)")
    assert editor.page.js("[localStorage.length, Object.values(sessionStorage).join(), location.href.includes(arguments[0])]", KEY) == [0, KEY, False]
    editor.press("Take back", "#done")
    editor.wait_for_done("Took back")
    assert (editor.record(id)["name"], editor.record(id)["properties"]) == ("Café Alpha", {})


def test_a_pin_is_moved_by_ten_metres(editor):
    id = editor.place()
    editor.open_place(id)
    editor.press("Correct", ".edit-tools")
    editor.press("Move the pin", "#desk")
    editor.page.wait("document.activeElement.matches('.edit-pin')")
    editor.hand.move_pin(10)
    editor.look("pin")
    if editor.size == PHONE:
        editor.press("Go on", "#desk")
    assert editor.page.text(".moved") in ("Moved by 10 m.", "Moved by 9 m.", "Moved by 11 m.")
    editor.press("Save", "#desk")
    assert "moved by" in editor.wait_for_done("Corrected")
    meters = (editor.record(id)["latitude"] - editor.latitude) * 111_195
    assert abs(meters - 10) < (0.05 if isinstance(editor.hand, Keyboard) else 1)


def test_a_place_is_added(editor):
    editor.open(f"at={editor.latitude},60,17")
    editor.press("Add a place")
    editor.hand.press_the_map()
    editor.page.wait("!!document.querySelector('#desk form')")
    editor.press("Add this place", "#desk")
    assert editor.page.js("document.activeElement.getAttribute('aria-invalid')") == "true"
    editor.look("faults")
    editor.fill("Name", "Kiosk")
    editor.fill("Category", "café")
    editor.press("Add this place", "#desk")
    editor.wait_for_done("Added Kiosk")
    found, = editor.page.wait_for_places(1, lat=editor.latitude, long=60)
    assert (found["name"], found["category"]) == ("Kiosk", "cafe") and found["distance"] < 300
    assert editor.page.text("#detail-name") == "Kiosk"
    editor.press("Take back", "#done")
    editor.wait_for_done("Took back what was added: Kiosk")
    assert editor.is_gone(found["id"])


def test_a_place_is_closed(editor):
    id = editor.place()
    editor.open_place(id)
    editor.press("Mark as closed", ".edit-tools")
    editor.wait_for_done("Closed Café Alpha")
    assert editor.record(id)["operatingStatus"] == "permanentlyClosed"
    editor.press("Mark as open", ".edit-tools")
    editor.wait_for_done("Opened again: Café Alpha")
    assert editor.record(id)["operatingStatus"] is None


def test_a_place_is_removed_and_taken_back(editor):
    id = editor.place()
    editor.open_place(id)
    editor.press("Remove", ".edit-tools")
    editor.page.wait("document.getElementById('desk-title')?.textContent === 'Remove Café Alpha?'")
    editor.look("remove")
    editor.press("Remove", "#desk")
    editor.wait_for_done("Removed Café Alpha")
    assert editor.is_gone(id)
    editor.press("Take back", "#done")
    editor.wait_for_done("Café Alpha is there again")
    assert editor.record(id)["name"] == "Café Alpha" and editor.page.text("#detail-name") == "Café Alpha"


def test_two_places_become_one(editor):
    id = editor.place(address="Street 1")
    other = editor.request("POST", "/locations", {"name": "Café A.", "category": "cafe", "latitude": editor.latitude + 0.0005, "longitude": 60})["id"]
    editor.page.wait_for_places(2, lat=editor.latitude, long=60)
    editor.open_place(id)
    editor.press("Merge", ".edit-tools")
    editor.look("merge")
    editor.press("Café A.", "#desk")
    editor.page.wait("document.getElementById('desk')?.textContent.includes('Address: Street 1')")
    editor.press("Merge", "#desk")
    editor.wait_for_done("Merged Café Alpha into Café A.")
    assert editor.is_merged(id, other) and editor.record(other)["address"] == "Street 1"
    editor.press("Take back", "#done")
    editor.wait_for_done("are two places again")
    assert editor.record(id)["address"] == "Street 1" and editor.record(other)["address"] is None


def test_somebodys_change_is_undone(editor):
    id = editor.place()
    editor.correct(id, name="Café Beta", address="Street 1")
    editor.correct(id, website="https://example.org/")
    editor.page.wait_for_places(1, lat=editor.latitude, long=60)
    editor.open(f"at={editor.latitude},60,17")
    editor.press("Changes")
    editor.page.wait("document.querySelectorAll('#desk .desk-list > li').length === 2")
    editor.look("changes")
    # What was changed before the last change: the last one stays.
    second = editor.page.js("[...document.querySelectorAll('#desk .desk-list > li')].map((made) => made.textContent.includes('Street 1'))").index(True) + 1
    editor.press("Take back", f"#desk .desk-list > li:nth-child({second})")
    editor.wait_for_done("Took back what was changed of Café Alpha")
    record = editor.record(id)
    assert (record["name"], record["address"], record["website"]) == ("Café Alpha", None, "https://example.org/")
    # Where somebody has changed the same meanwhile, both are shown.
    editor.correct(id, name="Café Gamma")
    editor.press("Take back", "#done")
    editor.page.wait("document.getElementById('desk-title')?.textContent === 'What you take back was changed since'")
    assert "Café Gamma" in editor.page.find("#desk").text and "Café Beta" in editor.page.find("#desk").text
    editor.press("Leave it as it is now", "#desk")
    assert editor.record(id)["name"] == "Café Gamma"


def test_a_conflict_shows_both_versions(editor):
    id = editor.place()
    editor.open_place(id)
    editor.press("Correct", ".edit-tools")
    editor.fill("Name", "Café Mine")
    editor.fill("Website", "https://mine.example/")
    editor.correct(id, name="Café Theirs", address="Their street")
    editor.press("Save", "#desk")
    editor.page.wait("document.querySelectorAll('.conflict').length === 2")
    text = editor.page.find("#desk").text
    assert "by bela" in text and "Before: Café Alpha" in text and "Changed by others only, which stays: Address." in text
    editor.look("conflict")
    editor.press("Save what is chosen", "#desk")
    assert editor.record(id)["name"] == "Café Theirs", "nothing is written before somebody has chosen"
    editor.choose("Yours Café Mine", "#desk")
    editor.press("Save what is chosen", "#desk")
    editor.wait_for_done("Corrected Café Mine")
    record = editor.record(id)
    assert (record["name"], record["address"], record["website"]) == ("Café Mine", "Their street", "https://mine.example/")
    expect_faults(editor.page, "412", "401")


def test_the_network_is_lost_in_the_middle_of_a_form(editor):
    page, id = editor.page, editor.place()
    editor.open_place(id)
    editor.press("Correct", ".edit-tools")
    editor.fill("Name", "Café Offline")
    # The tab is closed, and another one opened.
    editor.open_place(id)
    editor.press("Correct", ".edit-tools")
    page.wait("document.getElementById('desk')?.textContent.includes('didn’t save')")
    page.cdp("Network.enable")
    page.cdp("Network.emulateNetworkConditions", offline=True, **ONLINE)
    editor.press("Save", "#desk")
    page.wait("document.getElementById('desk')?.textContent.includes('can’t be reached')")
    editor.look("offline")
    assert editor.record(id)["name"] == "Café Alpha"
    page.cdp("Network.emulateNetworkConditions", offline=False, **ONLINE)
    editor.wait_for_done("Corrected Café Offline")
    assert editor.record(id)["name"] == "Café Offline" and page.js("localStorage.length") == 0
    expect_faults(page, "ERR_INTERNET_DISCONNECTED", "401")


def test_a_report_is_answered(editor):
    id = editor.place()
    editor.request("POST", "/reports", {"id": str(uuid.uuid4()), "place": id, "reason": "closed", "text": f"{HOSTILE} since Monday"})
    editor.open(f"at={editor.latitude},60,17")
    editor.press("Reports")
    editor.page.wait("document.querySelectorAll('#desk .desk-list > li').length === 1")
    assert f"{HOSTILE} since Monday" in editor.page.find("#desk").text and not editor.page.js("window.hostile")
    editor.look("reports")
    editor.press("Correct: It is closed: Café Alpha", "#desk")
    editor.page.wait("!!document.querySelector('#desk form')")
    editor.hand.focus(editor.hand.find("Open or closed", "#desk"))
    editor.hand.type("perm")
    editor.press("Save", "#desk")
    editor.wait_for_done("Corrected Café Alpha")
    editor.press("Reports")
    editor.fill("Note", "checked")
    editor.press("Done: It is closed: Café Alpha", "#desk")
    editor.wait_for_done("Done: It is closed")
    assert editor.record(id)["operatingStatus"] == "permanentlyClosed"
    settled = editor.request("GET", "/reports?status=done")[0]
    assert (settled["place"], settled["note"], editor.request("GET", "/reports?status=open")) == (id, "checked", [])


def test_two_rows_of_an_import_are_refused(editor, poi, tmp_path):
    page, database = editor.page, editor.page.server.database
    north = editor.latitude
    file, report = tmp_path / "cafes.csv", tmp_path / "report.jsonl"
    dataset = f"cafes {-north}"

    def run(*options):
        done = subprocess.run([poi, "import", file, "--dataset", dataset, "--license", "CC0-1.0", "--allow",
                               "removals=100%,names,positions,members", "--database-url", database, *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    file.write_text(f"id,name,category,latitude,longitude\n1,One,cafe,{north},60\n2,Two,cafe,{north + 0.001},60\n3,Three,cafe,{north + 0.002},60\n")
    run()
    editor.correct(int(psql(database, f"SELECT id FROM locations WHERE source_dataset = '{dataset}' AND source_id = '2'").stdout), name="Two, by hand")
    file.write_text(f"id,name,category,latitude,longitude\n1,\"{HOSTILE.replace(chr(34), chr(34) * 2)}\",cafe,{north},60\n2,Two,cafe,{north + 0.0015},60\n4,Four,cafe,{north + 0.003},60\n")
    run("--sync", "--dry-run", "--report", str(report))
    editor.open(f"at={north},60,16")
    editor.press("Review an import")
    page.find("#review-file").send_keys(str(report))
    page.wait("document.querySelectorAll('.review > li').length === 5")
    text = page.find("#desk").text
    assert HOSTILE in text and "moved by 56 m" in text and "Three removed" in text and "Four added" in text and "Two, by hand corrections kept" in text and not page.js("window.hostile")
    assert page.js("document.querySelectorAll('.review-mark').length") == 6, "of what has moved, both positions are shown"
    editor.look("review")
    editor.choose("Refuse Two", "#desk")
    editor.choose("Refuse Three", "#desk")
    page.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    editor.press("Save what is refused", "#desk")
    refusals = tmp_path / "report.except.jsonl"
    wait_for(refusals.exists, 30, "the file")
    assert "refused 2" in run("--sync", "--except", str(refusals))
    page.wait_for_places(4, lat=north, long=60)
    rows = psql(database, f"SELECT name, round((latitude - {north}) * 10000) FROM locations WHERE source_dataset = '{dataset}' ORDER BY source_id").stdout
    assert rows.split("\n")[:-1] == [f"{HOSTILE}|0", "Two, by hand|10", "Three|20", "Four|30"]


def test_what_hostile_data_say_is_text(page):
    editor = Editor(page, Pointer, DESKTOP)
    hostile = [HOSTILE, "'\"><svg onload=window.hostile=1>", "javascript:window.hostile=1", "{{constructor.constructor('window.hostile=1')()}}", "‮﷽ \\u003cscript>"]
    id = editor.place(name=HOSTILE, address=hostile[1], names={"de": hostile[3]}, otherNames=hostile,
                      properties={**{text[:100]: text for text in hostile}, "opening_hours": HOSTILE, "phone": hostile[1], "email": hostile[2], "list": [hostile]})
    editor.correct(id, address=hostile[3])
    editor.request("POST", "/reports", {"id": str(uuid.uuid4()), "place": id, "reason": "other", "text": hostile[1]})
    editor.open_place(id)
    for button, within, shown in [("Correct", ".edit-tools", None), ("Versions", ".edit-tools", hostile[3]), ("Merge", ".edit-tools", HOSTILE),
                                  ("Changes", "#edit-bar", HOSTILE), ("Reports", "#edit-bar", hostile[1])]:
        editor.press(button, within)
        page.wait("document.getElementById('progress').hidden && (arguments[0] === null ? !!document.querySelector('#desk form') : document.getElementById('desk')?.textContent.includes(arguments[0]))", shown)
        assert not page.js("document.querySelectorAll('#desk :is(img, script, svg, iframe, object), #desk a[href^=\"javascript\" i]').length")
        editor.press("Close", "#desk")
    assert not page.js("window.hostile") and page.js("document.querySelectorAll('img').length") == 0
    # Markup can't be made of a string at all.
    assert page.js("(() => { try { document.createElement('p').innerHTML = '<b>'; return false; } catch { return true; } })()")
    expect_faults(page, "TrustedHTML", "401")


@pytest.mark.parametrize("lines, says", [
    ("", "The file is empty."), ('{"a": 1}\n', "isn’t the report of an import"), ('{"import": {"dataset": "a"}}\n{"change"', "Line 2 isn’t one of a report."),
    ('{"import": {"dataset": "a"}}\n{"change": "constructor", "name": "a"}\n', "Line 2 isn’t one of a report."),
    ('{"import": {"dataset": "a"}}\n{"change": "added", "name": "a", "sourceId": {}}\n', "Line 2 isn’t one of a report.")])
def test_what_is_no_report_is_refused(page, tmp_path, lines, says):
    editor = Editor(page, Pointer, DESKTOP)
    editor.open("at=0,0,3")
    editor.press("Review an import")
    file = tmp_path / "report.jsonl"
    file.write_text(lines)
    page.find("#review-file").send_keys(str(file))
    page.wait("document.querySelector('#desk .desk-status').textContent.includes(arguments[0])", says)


def test_the_key_and_the_drafts_go_together(page):
    editor = Editor(page, Pointer, DESKTOP)
    id = editor.place()
    page.open(f"place={id}", is_settled=False)
    page.wait("!document.getElementById('detail').hidden")
    editor.press("Correct this place", "#detail")
    page.wait("document.getElementById('key-dialog').open")
    page.find("#key").send_keys("a-wrong-key-of-somebody", Keys.ENTER)
    page.wait("document.getElementById('key-fault').textContent === 'This key is not valid.'")
    page.find("#key").send_keys(KEY, Keys.ENTER)
    page.wait("!!document.querySelector('#desk form')")
    editor.fill("Name", "Café Draft")
    assert page.js("[localStorage.length, sessionStorage.length]") == [1, 1]
    # A key that is no longer good is asked for anew, and what was typed is sent by the new one.
    page.driver.execute_script("sessionStorage.setItem('poi.key', 'a-key-that-has-expired')")
    editor.press("Save", "#desk")
    page.wait("document.getElementById('key-dialog').open")
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.wait("document.getElementById('desk')?.textContent.includes('What you typed is kept.')")
    editor.press("Save", "#desk")
    page.wait("document.getElementById('key-dialog').open")
    page.find("#key").send_keys(KEY, Keys.ENTER)
    editor.wait_for_done("Corrected Café Draft")
    editor.press("Correct", ".edit-tools")
    editor.fill("Name", "Café Draft 2")
    editor.press("Forget the key")
    page.wait("document.getElementById('key-dialog').open || !document.getElementById('edit-bar')")
    assert page.js("[localStorage.length, sessionStorage.length]") == [0, 0]
    expect_faults(page, "401")


def test_a_correction_shows_its_source_and_goes_back_to_it(page):
    editor = Editor(page, Pointer, DESKTOP)
    psql(page.server.database, f"""
        INSERT INTO datasets (name, license) VALUES ('sourced', 'CC0-1.0');
        INSERT INTO locations (name, category, latitude, longitude, source_dataset, source_id, source_license, import_run)
        VALUES ('Of the source', 'cafe', {editor.latitude}, 60, 'sourced', '{editor.latitude}', 'CC0-1.0', 0)""")
    found, = page.wait_for_places(1, lat=editor.latitude, long=60)
    editor.correct(found["id"], name="Of a person", latitude=editor.latitude + 0.0001)
    editor.open_place(found["id"])
    editor.press("Correct", ".edit-tools")
    page.wait("document.querySelectorAll('#desk .source .link').length === 2")
    assert "The source says: Of the source" in page.find("[data-member=name] .source").text
    editor.press("Name: reset to source", "#desk")
    assert page.js("document.querySelector('[data-member=name] input').value") == "Of the source"
    editor.press("Save", "#desk")
    editor.wait_for_done("Corrected Of the source")
    record = editor.record(found["id"])
    assert record["name"] == "Of the source" and list(record["sourceValues"]) == ["latitude"] or set(record["sourceValues"]) == {"latitude", "longitude"}


@pytest.mark.parametrize("scheme, forced, size", [
    ("dark", "none", DESKTOP), ("dark", "none", PHONE), ("light", "active", DESKTOP), ("light", "none", (320, 256)), ("light", "none", (844, 390))])
def test_the_form_is_for_everybody(page, scheme, forced, size):
    """In the dark, in forced colours, and enlarged: 320 by 256 is 1280 by 1024 at 400 %."""
    editor = Editor(page, Keyboard, size)
    id = editor.place(names={"de": "Kaffeehaus"}, properties={"wheelchair": "yes", "levels": [1, 2]})
    editor.correct(id, website="https://example.org/")
    editor.open_place(id)
    page.open(f"place={id}&edit=1", size, scheme, forced=forced)
    page.wait("document.querySelector('.edit-tools .secondary')")
    editor.press("Correct", ".edit-tools")
    page.wait("!!document.querySelector('#desk form')")
    if forced == "none":
        editor.look("form" if size in (DESKTOP, PHONE) else f"form-{size[0]}")
    for button in ("Save", "Discard"):
        editor.hand.focus(editor.hand.find(button, "#desk"))
        box = page.js("document.activeElement.getBoundingClientRect().toJSON()")
        assert box["top"] >= 0 and box["bottom"] <= size[1] and box["right"] <= size[0], box
    assert page.js("document.documentElement.scrollWidth") == size[0]
    small = page.js("[...document.querySelectorAll('#desk :is(button, input, select)')].map((made) => [made.closest('label') ?? made][0].getBoundingClientRect())"
                    ".filter(({ width, height }) => Math.min(width, height) > 0 && Math.min(width, height) < 24).length")
    assert small == 0, "each is 24 pixels wide and high at least"
