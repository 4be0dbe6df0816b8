"""Finding one's way: all places, one's own position, what is searched for, coordinates, links and units."""

import pytest
from selenium.webdriver.common.keys import Keys

from servers import Server
from start_page import SAN_JOSE, visited


def total(page):
    return sum(category["count"] for category in page.ask("categories"))


def test_it_shows_all_places_and_where_somebody_is(page):
    page.open()
    page.click("#show-all")
    page.wait("location.hash.match(/,(\\d+)/) && !location.hash.includes(',16') && document.getElementById('progress').hidden")
    assert page.drawn()[0] == total(page)
    page.cdp("Browser.grantPermissions", origin=page.server.url, permissions=["geolocation"])
    page.cdp("Emulation.setGeolocationOverride", latitude=48.85841, longitude=2.29449, accuracy=1)
    page.click("#show-me")
    page.wait("location.hash.startsWith('#at=48.86,2.29,14')")
    page.settle()
    assert page.listed() == [place["id"] for place in page.ask("locations", lat=48.85841, long=2.29449)]
    assert page.js("document.querySelectorAll('.marker').length") == 1


def test_a_search_goes_to_what_it_finds(page):
    page.open()
    for typed in ("tokyo tower", "tokio tower"):
        page.find("#q").clear()
        page.find("#q").send_keys(typed)
        page.wait("location.hash.includes(arguments[0]) && document.getElementById('progress').hidden", typed.replace(" ", "+"))
        best = page.ask("locations", q=typed, sort="relevance", limit=1)[0]
        assert best["name"] == "Tokyo Tower"
        assert page.listed()[0] == best["id"]
        assert page.js("document.querySelector('#suggestions option').value") == "Tokyo Tower"
        middle = page.middle()
        assert abs(float(middle["lat"]) - best["latitude"]) < 0.01 and abs(float(middle["long"]) - best["longitude"]) < 0.01


def test_a_far_place_opens_in_the_middle(page):
    tower = page.ask("locations", q="tokyo tower", sort="relevance", limit=1)[0]
    page.open(f"{SAN_JOSE}&place={tower['id']}")
    page.wait("document.querySelector('.pin') && location.hash.includes('at=35.')")
    page.settle()
    x, y = page.js("""(() => {
        const [pin, map] = ['.pin', '#map'].map((selector) => document.querySelector(selector).getBoundingClientRect());
        return [(pin.left + pin.width / 2 - map.left) / map.width, (pin.bottom - map.top) / map.height];
    })()""")
    assert 0.4 < x < 0.6 and 0.4 < y < 0.6


@pytest.mark.parametrize("text", ["48.85837, 2.29448", "48.85837 2.29448", "48.85837° N, 2.29448° E"])
def test_coordinates_lead_to_their_place(page, text):
    page.open()
    page.find("#q").send_keys(text, Keys.ENTER)
    page.wait("location.hash.includes('marker=48.85837,2.29448')")
    page.settle()
    assert page.listed() == [place["id"] for place in page.ask("locations", lat=48.85837, long=2.29448)]
    assert page.middle() == {"lat": "48.85837", "long": "2.29448"}


def test_a_place_has_a_title_a_link_and_directions(page):
    place = page.ask("locations", q="tokyo tower", sort="relevance", limit=1)[0]
    page.open(f"place={place['id']}")
    page.wait("!document.getElementById('detail').hidden")
    assert page.driver.title == "Tokyo Tower – Points of interest"
    links = page.js("[...document.querySelectorAll('#detail .actions a')].map((made) => made.href)")
    assert links == [f"https://www.openstreetmap.org/directions?to={place['latitude']}%2C{place['longitude']}",
                     f"{page.server.url}/#place={place['id']}"]
    page.cdp("Browser.grantPermissions", origin=page.server.url, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    page.driver.find_element("xpath", "//*[@id='detail']//button[text()='Copy link']").click()
    page.wait("[...document.querySelectorAll('#detail .actions button')].some(({ textContent }) => textContent === 'Copied')")
    page.click("#detail .close")
    page.wait("document.title === 'Points of interest'")


def test_distances_are_in_the_readers_units(page):
    agent = page.js("navigator.userAgent")
    page.cdp("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage="en-US")
    page.open()
    nearest = page.ask("locations", **page.middle(), limit=1)[0]["distance"]
    assert page.text("#results .distance") == f"{nearest / 0.3048:.0f} ft"
    assert page.text(".leaflet-control-scale-line").endswith(("ft", "mi"))
    page.cdp("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage="en-IE")
    page.open()
    assert page.text("#results .distance") == f"{nearest:.0f} m"
    assert page.text(".leaflet-control-scale-line").endswith("m")


def test_an_empty_service_says_what_fills_it(browser, poi):
    with Server(poi, settings={"POI_SEEDS": "false"}) as server, visited(browser, server) as page:
        page.open("")
        assert "poi import places.csv" in page.text("#summary")
