"""The page at / in a real browser, against a real server: what it shows and does, at a phone's and a desktop's width, in light
and dark, that it asks no other host, and its accessibility by axe-core. `--screenshots FOLDER` keeps pictures of it.

Needs Debian's chromium and chromium-driver.
"""

import importlib.util
import math
import re
from pathlib import Path

from selenium.webdriver.common.keys import Keys

from psql import psql
from start_page import DESKTOP, KEY, PHONE, SAN_JOSE

HOSTILE = '<img src=x onerror="window.hostile=1"><script>window.hostile=1</script>'
# Notes when the list and the map have their first places.
FIRST_PLACES = """
    new MutationObserver(() => {
        if (document.querySelector('#results [data-id]')) window.placesInList ??= performance.now();
        if (document.querySelector('.spot')) window.placesOnMap ??= performance.now();
    }).observe(document, { childList: true, subtree: true });
"""
COLOR_IN_THE_MIDDLE = """(() => {
    const { left, top, width, height } = document.getElementById('map').getBoundingClientRect();
    // Beside the pixel in the middle, where two canvases may meet.
    const [x, y] = [left + width / 2 + 3, top + height / 2 + 3];
    for (const canvas of document.querySelectorAll('.leaflet-base-pane canvas')) {
        const box = canvas.getBoundingClientRect();
        if (x < box.left || x >= box.right || y < box.top || y >= box.bottom) continue;
        const scale = canvas.width / box.width;
        return [...canvas.getContext('2d').getImageData((x - box.left) * scale, (y - box.top) * scale, 1, 1).data].slice(0, 3);
    }
})()"""
COLOR_OF = """(() => {
    const context = document.createElement('canvas').getContext('2d');
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(arguments[0]);
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
})()"""


def ids(places):
    return [place["id"] for place in places]


def test_the_list_has_the_nearest_places(page):
    page.open()
    expected = page.ask("locations", **page.middle(), limit=20)
    assert page.listed() == ids(expected)
    nearest = expected[0]["distance"]
    assert page.text("#results .distance") == f"{nearest:.0f} m"
    page.click("#more")
    page.wait("document.querySelectorAll('#results li').length === 40")
    assert page.listed() == ids(page.ask("locations", **page.middle(), limit=40))


def test_the_map_has_every_place(page):
    total = sum(category["count"] for category in page.ask("categories"))
    page.open("at=0,0,2", size=(1440, 1100))
    assert page.drawn()[0] == total
    page.open(SAN_JOSE.replace("16", "18"))
    count, alone = page.drawn()
    assert count >= len(alone) > 0
    for id in alone:
        assert page.js("document.querySelector(`.spot[data-id='${arguments[0]}']`).textContent", id) \
            == page.ask(f"locations/{id}")["name"]


def test_it_begins_with_all_places(page):
    for size in (DESKTOP, PHONE):
        page.open("", size)
        assert page.drawn()[0] == sum(category["count"] for category in page.ask("categories"))


def test_places_need_few_responses_on_a_slow_line(page):
    """What decides how long the first places take, at 400 ms and 50 kB/s: how many responses wait for others, and their
    bytes; the times are in Documentation/page.md."""
    slow = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
    watch = page.cdp("Page.addScriptToEvaluateOnNewDocument", source=FIRST_PLACES)["identifier"]
    page.cdp("Network.enable")
    for fragment, rounds in [("", 4), (SAN_JOSE, 3)]:
        page.cdp("Network.emulateNetworkConditions", **slow)
        page.open(fragment)
        page.wait("!!window.placesInList && !!window.placesOnMap")
        page.wait("performance.getEntriesByType('resource').some((entry) => entry.name.endsWith('base-map.bin'))")
        places = page.js("Math.max(window.placesInList, window.placesOnMap)")
        loads = page.js("performance.getEntriesByType('resource').map((made) => [made.name, made.startTime, made.responseEnd, made.transferSize])")
        page.cdp("Network.emulateNetworkConditions", **{**slow, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
        before = sorted((start, end, size) for name, start, end, size in loads if end and end < places)
        waits = []
        for start, _, _ in before:
            waits.append(1 + max([1] + [waits[at] for at in range(len(waits)) if before[at][1] <= start]))
        assert max(waits) <= rounds, (waits, loads)
        assert len(before) <= 8 and sum(size for _, _, size in before) < 85_000, loads
        base_map, = ((start, size) for name, start, _, size in loads if name.endswith("base-map.bin"))
        assert base_map[0] > places and base_map[1] <= 180_000, (places, base_map)
        assert not [name for name, *_ in loads if name.endswith(".js") and not re.search(r"/(page|leaflet)\.js$", name)]
    page.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=watch)


def test_the_base_map_shows_land_and_sea(page):
    places = {"Sahara": (22, 10, "--land"), "Atlantic": (30, -40, "--sea"), "Chukotka, in the west": (67.3, -178, "--land"),
              "Chukotka, in the east": (67.3, 178, "--land"), "Lake Superior": (47.7, -87.5, "--sea")}
    for scheme in ("light", "dark"):
        for name, (latitude, longitude, expected) in places.items():
            page.open(f"at={latitude},{longitude},5", scheme=scheme)
            page.wait("document.querySelectorAll('.leaflet-base-pane canvas').length > 0")
            assert page.js(COLOR_IN_THE_MIDDLE) == page.js(COLOR_OF, expected), (name, scheme)
    page.open("at=67.3,180,4")
    page.wait("document.querySelectorAll('.leaflet-base-pane canvas').length > 0")
    assert page.js(COLOR_IN_THE_MIDDLE) == page.js(COLOR_OF, "--land"), "the antimeridian is seen"
    for zoom in (2, 8):
        page.open(f"at=50,10,{zoom}")
        page.wait("document.querySelectorAll('.leaflet-base-pane canvas').length > 0")
        page.wait("document.querySelectorAll('.grid').length === 0")
    page.click("#zoom-in")
    page.wait("document.querySelectorAll('.grid').length > 0 && document.querySelectorAll('.leaflet-base-pane canvas').length === 0")


def test_tiles_replace_the_base_map(tiled_page):
    page, requests = tiled_page
    page.open("at=50,10,4")
    page.wait("[...document.querySelectorAll('.leaflet-tile')].length > 3 "
              "&& [...document.querySelectorAll('.leaflet-tile')].every((tile) => tile.complete && tile.naturalWidth === 1)")
    page.wait("document.querySelectorAll('.spot').length > 0")
    assert not page.js("document.querySelectorAll('.leaflet-base-pane canvas, .grid').length")
    assert not [name for name in page.js("performance.getEntriesByType('resource').map(({ name }) => name)") if "base-map" in name]
    assert page.js("[...document.querySelectorAll('#credits a')].map(({ href, textContent }) => [href, textContent])")[0] \
        == ["https://tiles.example/copyright", "© The tiles' makers"]
    # The host learns which site asks, and neither its page nor the place that is looked at.
    assert {referrer for _, referrer in requests} == {f"{page.server.url}/"}
    assert "/4/8/5.png" in [path for path, _ in requests]


def test_clusters_leave_land_visible(page):
    page.open("at=20,0,2")
    page.wait("document.querySelectorAll('.spot.cluster').length > 3")
    covered = page.js("[...document.querySelectorAll('.spot')].reduce((sum, made) => sum + made.offsetWidth ** 2, 0)")
    assert covered < 0.05 * page.js("document.getElementById('map').offsetWidth * document.getElementById('map').offsetHeight")
    assert page.js("Math.min(...[...document.querySelectorAll('.spot')].map((made) => made.offsetWidth))") >= 24


def test_spots_cover_no_others_and_places_have_signs(page):
    for at in ("at=20,0,2", "at=37.335,-121.885,13", SAN_JOSE):
        page.open(at)
        page.wait("document.querySelectorAll('.spot').length > 3")
        spots = page.js("""[...document.querySelectorAll('.spot')].map((made) => {
            const { x, y, width } = made.getBoundingClientRect();
            return [x + width / 2, y + width / 2, width / 2];
        })""")
        for index, (x, y, radius) in enumerate(spots):
            for x2, y2, radius2 in spots[:index]:
                assert math.hypot(x - x2, y - y2) >= radius + radius2 - 1, (at, (x, y), (x2, y2))
    assert page.drawn()[1], "no place is alone"
    assert page.js("[...document.querySelectorAll('.spot.place')].every((made) => made.querySelector('svg.sign path').getBBox().width > 5)")


def test_details_have_a_week_and_what_can_be_followed(page):
    psql(page.server.database, """
        INSERT INTO locations (name, category, latitude, longitude, properties) VALUES ('Open', 'cafe', -45, 60,
        '{"opening_hours": "Mo-Fr 08:00-12:00,13:00-17:00; Sa 10:00-14:00; PH off", "email": "a@b.example", "menu": "https://menu.example/a", "photo": "https://images.example/a.jpg"}'),
        ('Seldom open', 'cafe', -45.1, 60, '{"opening_hours": "Apr-Oct: by appointment", "email": "javascript:a@b"}')""")
    simple, = page.wait_for_places(1, lat=-45, long=60)
    other, = page.wait_for_places(1, lat=-45.1, long=60)
    page.open(f"place={simple['id']}")
    page.wait("document.querySelector('#detail .week')")
    week = page.js("[...document.querySelectorAll('#detail .week tr')].map((row) => [...row.children].map((cell) => cell.textContent))")
    assert week == [[day, "08:00–12:00, 13:00–17:00"] for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")] + [
        ["Saturday", "10:00–14:00"], ["Sunday", "closed"]]
    assert page.find("#detail .own-words").text == "Mo-Fr 08:00-12:00,13:00-17:00\nSa 10:00-14:00\nPH off"
    links = page.js("[...document.querySelectorAll('#detail dd a')].map((link) => link.href)")
    assert "mailto:a@b.example" in links and "https://menu.example/a" in links
    # No host is allowed, so that its address is what is shown.
    assert page.js("document.querySelectorAll('img.photo').length") == 0 and "https://images.example/a.jpg" in links
    page.open(f"place={other['id']}")
    page.wait("document.getElementById('detail').textContent.includes('by appointment')")
    assert page.js("document.querySelectorAll('#detail .week, #detail dd a').length") == 0


def test_a_cluster_opens_by_the_keyboard(page):
    page.open("at=20,0,2")
    before = page.js("location.hash")
    page.js("[...document.querySelectorAll('.spot.cluster')].sort((a, b) => b.offsetWidth - a.offsetWidth)[0].focus()")
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.wait("location.hash !== arguments[0] && document.getElementById('progress').hidden", before)
    assert page.drawn()[0] > 0


def test_a_category_filters_list_and_map(page):
    page.open("at=20,0,2")
    name, count = next((c["name"], c["count"]) for c in page.ask("categories") if c["name"] == "theatre")
    page.click(f"[data-category={name}]")
    page.wait("document.querySelector(`[data-category=${arguments[0]}]`).ariaPressed === 'true'", name)
    page.settle()
    assert f"category={name}" in page.js("location.hash")
    assert page.listed() == ids(page.ask("locations", **page.middle(), category=name))
    assert page.drawn()[0] == count


def test_it_searches_as_one_types(page):
    page.open()
    page.watch_requests()
    page.find("#q").send_keys("san jose m")
    page.wait("location.hash.includes('q=san+jose+m') && document.getElementById('progress').hidden")
    expected = ids(page.ask("locations", **page.middle(), q="san jose m", sort="relevance"))
    assert expected and page.listed() == expected
    asked = [url for url in page.watch_requests() if "/locations?" in url and "limit=20" in url]
    assert len(asked) <= 5
    # With other words, a word that nothing has is left out.
    page.find("#q").send_keys(Keys.CONTROL, "a")
    page.find("#q").send_keys("zzzqx")
    page.wait("document.getElementById('summary').textContent.startsWith('No place matches')")
    page.click("#summary button")
    page.wait("document.querySelectorAll('#results li').length === 20")


def test_the_strip_moves_on_but_not_under_the_reader(page):
    page.open()
    expected = ids(page.ask("locations", **page.middle(), featured="true", limit=10))
    shown = "Number(document.querySelector('#featured-place button').dataset.id)"
    seen = [page.js(shown)]
    for _ in expected:
        page.driver.execute_script("tenSecondsPass()")
        seen.append(page.js(shown))
    assert seen == expected + expected[:1]
    page.driver.execute_script("document.querySelector('#featured-place button').focus(); tenSecondsPass()")
    assert page.js(shown) == expected[0], "it moves under the focus"
    page.click("#featured-on")
    page.driver.execute_script("document.activeElement.blur(); tenSecondsPass()")
    assert page.js(shown) == expected[1], "it moves under the pointer"
    page.open(motion="reduce")
    page.driver.execute_script("tenSecondsPass()")
    assert page.js(shown) == expected[0], "it moves though less motion is preferred"


def test_it_keeps_what_it_has_offline_and_goes_on_afterwards(page):
    page.open()
    page.cdp("Network.enable")
    conditions = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    page.cdp("Network.emulateNetworkConditions", offline=True, **conditions)
    page.click("#zoom-out")
    page.wait("document.getElementById('notice').textContent.startsWith('You are offline.')")
    assert page.listed(), "what was there is gone"
    page.cdp("Network.emulateNetworkConditions", offline=False, **conditions)
    page.wait("document.getElementById('notice').textContent === ''")
    page.settle()
    assert page.listed() == ids(page.ask("locations", **page.middle(), limit=20))
    assert all("ERR_INTERNET_DISCONNECTED" in fault for fault in page.faults())


def test_hostile_names_are_shown_as_text(page):
    psql(page.server.database, f"""
        INSERT INTO locations (name, category, latitude, longitude, featured, address, website, source_dataset, source_id,
        source_license) VALUES ('{HOSTILE}', 'park', -40, 60, true, '{HOSTILE}', 'https://example.org/', '{HOSTILE}', '1', 'x')""")
    found, = page.wait_for_places(1, lat=-40, long=60)
    page.open(f"at=-40,60,15&place={found['id']}")
    page.wait("!document.getElementById('detail').hidden")
    for selector in ["#results .name", "#featured-place .name", ".spot .label", "#detail h2", "#detail dd:nth-of-type(2)"]:
        assert page.text(selector) == HOSTILE
    assert HOSTILE in page.text("#credits")
    assert not page.js("window.hostile") and page.js("document.querySelectorAll('img, body script').length") == 0
    link = page.find("#detail dd a")
    assert link.get_attribute("rel") == "noopener noreferrer" and link.get_attribute("target") == "_blank"


def test_the_antimeridian_divides_nothing(page):
    psql(page.server.database, """
        INSERT INTO locations (name, category, latitude, longitude)
        VALUES ('West of Wrangel', 'park', -50, 179.99), ('East of Wrangel', 'park', -50, -179.99)""")
    page.wait_for_places(2, lat=-50, long=180)
    for middle in ["180", "-180", "179.995"]:
        page.open(f"at=-50,{middle},13")
        west, east = (page.js("document.querySelector(`[aria-label='${arguments[0]}']`).getBoundingClientRect().x", label)
                      for label in ["West of Wrangel, Park", "East of Wrangel, Park"])
        assert 50 < east - west < 200, (middle, west, east)
    # A search that finds both shows them close, not the world between them.
    page.open()
    page.find("#q").send_keys("wrangel")
    page.wait("location.hash.includes('wrangel') && document.getElementById('progress').hidden")
    assert page.drawn()[0] == 2
    assert 179.9 <= abs(float(page.middle()["long"])) <= 180, page.middle()


def test_the_detail_has_all_that_is_known(page):
    psql(page.server.database, """
        INSERT INTO locations (name, category, latitude, longitude, names, properties, source_dataset, source_id, source_license)
        VALUES ('Wien', 'town', -45, 70, '{"en": "Vienna"}',
        '{"opening_hours": "Mo-Fr 09:00-18:00; Sa 10:00-12:00", "phone": "+43 1 58858", "step_free": true, "rooms": [1, 2], "opened": 1989}',
        'a', '1', 'CC0-1.0');
        INSERT INTO locations (name, category, latitude, longitude, source_dataset, source_id, source_license)
        SELECT 'Credited', 'town', -60, n, n || repeat(' long name of a dataset', 4), '1', 'CC0-1.0' FROM generate_series(10, 14) n""")
    found, = page.wait_for_places(1, lat=-45, long=70)
    page.open(f"at=-45,70,12&place={found['id']}")
    page.wait("!document.getElementById('detail').hidden")
    assert page.text("#detail-name") == "Vienna"
    lines = page.find("#detail").text.split("\n")
    for expected in [["Local name", "Wien"], ["Opening hours", "Monday 09:00–18:00"], ["Sunday closed", "Mo-Fr 09:00-18:00", "Sa 10:00-12:00"],
                     ["Phone", "+43 1 58858"], ["Step free", "Yes"], ["Rooms", "1, 2"], ["Opened", "1989"]]:
        at = lines.index(expected[0])
        assert lines[at:at + len(expected)] == expected
    page.click("#all-credits")
    assert page.js("(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight + 1)(document.getElementById('credits'))")
    assert page.find("#credits").text.count("long name of a dataset") == 20


def test_the_keyboard_reaches_everything(page):
    page.open()
    assert page.js("document.querySelectorAll('.spot[tabindex=\"0\"]').length") == 1
    page.js("document.querySelector('.spot[tabindex=\"0\"]').focus()")
    first = page.js("document.activeElement.ariaLabel")
    active = page.driver.switch_to.active_element
    for key in [Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.ARROW_DOWN, Keys.ARROW_UP]:
        active.send_keys(key)
        active = page.driver.switch_to.active_element
    assert page.js("document.activeElement.classList.contains('spot')") and first
    page.find("#results button").send_keys(Keys.ARROW_DOWN)
    assert page.js("document.activeElement === document.querySelectorAll('#results button')[1]")
    chosen = page.js("document.activeElement.dataset.id")
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.wait("document.activeElement.id === 'detail-name'")
    assert page.text("#detail-name") == page.ask(f"locations/{chosen}")["name"]
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.wait("document.getElementById('detail').hidden && document.activeElement.dataset.id === arguments[0]", chosen)


def test_distances_are_from_a_marker_or_from_the_reader(page):
    page.open(f"{SAN_JOSE}&marker=37.335,-121.885")
    assert page.listed() == ids(page.ask("locations", lat=37.335, long=-121.885))
    page.cdp("Browser.grantPermissions", origin=page.server.url, permissions=["geolocation"])
    page.cdp("Emulation.setGeolocationOverride", latitude=48.8584, longitude=2.2945, accuracy=1)
    page.click("#from label:has([value=me])")
    page.wait("document.getElementById('summary').textContent.includes('nearest to you')")
    assert page.listed() == ids(page.ask("locations", lat=48.8584, long=2.2945))
    assert "48.8" not in page.js("location.hash"), "the address tells where somebody is"


def test_it_fits_and_is_accessible(page, pytestconfig):
    """No scrolling to the side, no serious finding of axe-core; and the pictures."""
    folder = pytestconfig.getoption("--screenshots")
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    axe = Path(importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0], "axe.min.js").read_text()
    place = page.ask("locations", lat=37.3292, long=-121.8889, limit=1)[0]["id"]
    views = {"map": "", "list": "&view=list", "detail": f"&place={place}"}
    for size, scheme in [(size, scheme) for size in (DESKTOP, PHONE) for scheme in ("light", "dark")]:
        for view, fragment in views.items():
            what = f"{'desktop' if size == DESKTOP else 'phone'}-{scheme}-{view}"
            page.open(SAN_JOSE.replace("16", "15") + fragment, size, scheme)
            if view == "detail":
                page.wait("!document.getElementById('detail').hidden")
            if folder:
                page.driver.save_screenshot(str(folder / f"{what}.png"))
            width = page.js("document.documentElement.scrollWidth")
            assert width == size[0], f"{what} is {width} wide"
            page.driver.execute_script(axe)
            result = page.driver.execute_async_script(
                "axe.run(document, {resultTypes: ['violations']}).then(arguments[0], (error) => arguments[0](String(error)))")
            serious = [(found["id"], [node["html"] for node in found["nodes"]][:3])
                       for found in result["violations"] if found["impact"] in ("serious", "critical")]
            assert not serious, (what, serious)
        ground = page.js("getComputedStyle(document.body).backgroundColor")
        brightness = sum(int(part) for part in re.findall(r"\d+", ground)[:3]) / 3
        assert (brightness < 64) == (scheme == "dark"), (what, ground)


def test_it_has_a_list_without_leaflet(page):
    page.cdp("Network.enable")
    page.cdp("Network.setBlockedURLs", urls=["*leaflet.js"])
    page.open("", PHONE)
    page.cdp("Network.setBlockedURLs", urls=[])
    assert "libjs-leaflet" in page.find("#map-missing").text
    page.click("#list-tab")
    page.wait("getComputedStyle(document.getElementById('list-panel')).visibility === 'visible'")
    assert page.listed()
    assert all("leaflet.js" in fault for fault in page.faults())


def test_a_key_is_asked_for_and_kept_for_the_session_only(keyed_page):
    page = keyed_page
    page.open(is_settled=False)
    page.wait("document.getElementById('key-dialog').open")
    page.find("#key").send_keys("a-wrong-key-of-16", Keys.ENTER)
    page.wait("document.getElementById('key-fault').textContent !== ''")
    page.find("#key").send_keys(KEY, Keys.ENTER)
    page.settle()
    assert page.listed() and page.drawn()[0]
    assert page.js("[localStorage.length, document.cookie, Object.values(sessionStorage).join()]") == [0, "", KEY]
    assert KEY not in page.js("location.href")
    assert all("401" in fault for fault in page.faults())
    page.open()
    page.click("#forget-key")
    page.wait("document.getElementById('key-dialog').open")
    assert page.js("sessionStorage.length") == 0
    page.faults()
