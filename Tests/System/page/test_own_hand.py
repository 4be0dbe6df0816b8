"""What changes only by a person's own hand: the order of a list, where the focus is, and what the map shows."""

import pytest
from selenium.webdriver.common.keys import Keys

from psql import psql
from start_page import DESKTOP, PHONE, SAN_JOSE

AT = "location.hash.match(/at=([^&]*)/)[1]"
DONE = "document.getElementById('progress').hidden"
FOCUS_IN = "document.querySelector(arguments[0]).contains(document.activeElement)"


def type_text(page, text):
    """Types a text in place of what is in the field, and waits until it is searched for."""
    page.find("#q").send_keys(Keys.CONTROL, "a")
    page.find("#q").send_keys(text or Keys.DELETE)
    page.wait(f"new URLSearchParams(location.hash.slice(1)).get('q') === (arguments[0] || null) && {DONE}", text)
    page.settle()


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_place_that_is_opened_moves_no_list(page, size):
    page.open(f"{SAN_JOSE}&view=list", size)
    listed, texts = page.listed(), page.find("#results").text
    for number in (20, 12, 3):
        page.driver.execute_script("document.querySelectorAll('#results button')[arguments[0]].click()", number - 1)
        page.wait("!document.getElementById('detail').hidden && document.getElementById('detail').dataset.place === arguments[0]",
                  str(listed[number - 1]))
        page.settle()
        distance = page.js("document.querySelectorAll('#results .distance')[arguments[0]].textContent", number - 1)
        assert f"{distance} from the map’s middle" in page.find("#detail").text
        assert page.listed() == listed and page.find("#results").text == texts
    page.click("#detail .close")
    page.wait("document.getElementById('detail').hidden")
    assert page.js("document.activeElement.dataset.id") == str(listed[2])
    page.js("document.getElementById('zoom-out').click()")
    page.wait("location.hash.includes(',15')")
    page.settle()
    assert page.listed() == [place["id"] for place in page.ask("locations", **page.middle(), limit=20)]


def test_the_focus_stays_in_the_detail_and_in_the_list(page):
    page.open(SAN_JOSE)
    place = page.listed()[5]
    page.click(f"#results [data-id='{place}']")
    page.wait("document.activeElement.id === 'detail-name'")
    page.driver.execute_script("[...document.querySelectorAll('#detail .actions a')].at(-1).focus()")
    for selector in ("#detail", "#results"):
        focused = page.js("document.activeElement.textContent")
        before = page.js(AT)
        page.driver.execute_script("document.getElementById('zoom-out').click()")
        page.wait(f"{AT} !== arguments[0] && {DONE}", before)
        page.settle()
        assert page.js(FOCUS_IN, selector)
        assert page.js("document.activeElement.textContent").split("m")[0] == focused.split("m")[0]
        page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        page.wait("document.getElementById('detail').hidden")


def test_the_focus_goes_back_to_where_a_place_was_opened(page):
    page.open(SAN_JOSE.replace("16", "18"))
    page.driver.execute_script("document.querySelector('.spot.place').focus()")
    page.settle()
    place = page.js("document.activeElement.dataset.id")
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.wait("document.activeElement.id === 'detail-name'")
    page.settle()
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.wait("document.activeElement.matches('.spot') && document.activeElement.dataset.id === arguments[0]", place)
    page.click("#featured-place button")
    page.wait("document.activeElement.id === 'detail-name'")
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.wait("document.activeElement.closest('#featured') !== null")


def test_a_link_to_a_place_opens_its_surroundings(page):
    place = page.ask("locations", q="tokyo tower", sort="relevance", limit=1)[0]
    for size in (DESKTOP, PHONE):
        page.open(f"place={place['id']}", size)
        page.wait("!document.getElementById('detail').hidden")
        page.settle()
        latitude, longitude, zoom = map(float, page.js(AT).split(","))
        assert abs(latitude - place["latitude"]) < 0.05 and abs(longitude - place["longitude"]) < 0.05 and zoom == 14
        assert page.listed()[0] == place["id"]
    page.open("place=987654321")
    page.wait("document.getElementById('detail').textContent.includes('no longer there')")
    assert page.drawn()[0] == sum(category["count"] for category in page.ask("categories"))
    assert all("404" in fault for fault in page.faults())


def test_a_search_stays_in_ones_town_and_leads_back(page):
    page.open(SAN_JOSE)
    here = page.js(AT)
    for text in ("cafe", "museum"):
        type_text(page, text)
        assert page.js(AT) == here, "something is found in view or nearby"
    type_text(page, "")
    assert page.js(AT) == here
    for text in ("tok", "tokyo tower"):
        type_text(page, text)
        assert page.js(AT) != here
    type_text(page, "museum")
    assert page.js(AT) == here, "a search is judged by where one was"
    type_text(page, "tokyo tower")
    type_text(page, "")
    assert page.js(AT) == here
    type_text(page, "tokyo tower")
    page.driver.execute_script("document.getElementById('zoom-out').click()")
    page.wait(f"{AT}.endsWith(',13') && {DONE}")
    there = page.js(AT)
    type_text(page, "")
    assert page.js(AT) == there, "somebody has moved the map"
    page.open(SAN_JOSE)
    type_text(page, "tokyo tower")
    page.driver.back()
    page.wait(f"{AT} === arguments[0] && {DONE}", here)
    page.settle()
    assert page.js("document.getElementById('q').value") == ""
    assert page.listed() == [found["id"] for found in page.ask("locations", **page.middle(), limit=20)]


def test_what_is_found_is_not_beneath_a_detail(page):
    place = page.ask("locations", lat=37.3292, long=-121.8889, limit=1)[0]["id"]
    for narrow in (lambda: type_text(page, "museum"), lambda: page.click("[data-category=theatre]")):
        page.open(f"{SAN_JOSE}&place={place}")
        page.wait("!document.getElementById('detail').hidden")
        narrow()
        page.wait("document.getElementById('detail').hidden")
        page.settle()
        assert page.js("document.activeElement.matches('#q, [data-category=theatre]')"), "who types or chooses keeps the focus"
        assert page.listed()


def test_a_browser_that_does_not_say_where_one_is_is_told_of(page):
    page.cdp("Browser.setPermission", permission={"name": "geolocation"}, setting="denied", origin=page.server.url)
    page.open(SAN_JOSE, PHONE)
    page.click("#show-me")
    page.wait("document.getElementById('notice').textContent.includes('doesn’t say where you are')")
    assert page.js("document.getElementById('notice').getBoundingClientRect().height") > 10
    page.cdp("Browser.resetPermissions")


def test_more_categories_begin_where_the_others_end(page):
    for size in (DESKTOP, PHONE):
        page.open(SAN_JOSE, size)
        last = page.js("[...document.querySelectorAll('.chip')].at(-2).dataset.category")
        page.click(".chip.more")
        page.wait("document.querySelector('.chip.more').ariaExpanded === 'true'")
        after = page.js("document.querySelector(`[data-category='${arguments[0]}']`).nextElementSibling.dataset.category", last)
        assert page.js("document.activeElement.dataset.category") == after
        box = page.js("document.activeElement.getBoundingClientRect().toJSON()")
        assert 0 <= box["left"] and box["right"] <= size[0] and box["bottom"] <= size[1]


def test_places_at_one_position_are_said_to_be_listed(page):
    psql(page.server.database, """
        INSERT INTO locations (name, category, latitude, longitude) SELECT 'Floor ' || n, 'park', -33, 60 FROM generate_series(1, 3) n""")
    page.wait_for_places(3, lat=-33, long=60)
    page.open("at=-33,60,14", PHONE)
    assert page.js("document.querySelector('.spot').ariaLabel") == "3 places, list them"
    page.click(".spot")
    page.wait("document.body.dataset.view === 'list' && document.querySelectorAll('#results li').length >= 3")
    page.settle()
    assert {"Floor 1", "Floor 2", "Floor 3"} <= set(page.find("#results").text.split("\n"))


def test_plus_is_one_step_with_shift_too(page):
    page.open(SAN_JOSE.replace("16", "12"))
    page.find("#map").send_keys(Keys.SHIFT + "+" + Keys.NULL)
    page.wait(f"{AT}.endsWith(',13') && {DONE}")
    page.find("#map").send_keys("-")
    page.wait(f"{AT}.endsWith(',12') && {DONE}")


def test_large_text_covers_nothing(page):
    for size in (DESKTOP, PHONE):
        page.open(SAN_JOSE, size)
        page.driver.execute_script("document.documentElement.style.fontSize = '200%'")
        page.settle()
        for selector in ("footer a", "footer a[href=problems]", "#show-me", "#list-tab" if size == PHONE else "#results button", "#q"):
            hit = page.js("""((selector) => {
                const made = document.querySelector(selector);
                made.scrollIntoView({ block: 'nearest' });
                const box = made.getBoundingClientRect();
                return [[0.5, 0.5], [0.1, 0.5], [0.9, 0.5]].every(([x, y]) =>
                    made.contains(document.elementFromPoint(box.left + x * box.width, box.top + y * box.height)));
            })(arguments[0])""", selector)
            assert hit, (size, selector)
        assert page.js("document.documentElement.scrollWidth") == size[0]


def test_a_print_has_dots_and_the_whole_list(page):
    for size in (DESKTOP, PHONE):
        page.open(SAN_JOSE, size)
        page.cdp("Emulation.setEmulatedMedia", media="print")
        for selector in (".dot", ".place .dot"):
            assert page.js("getComputedStyle(document.querySelector(arguments[0])).printColorAdjust", selector) == "exact"
        boxes = page.js("[...document.querySelectorAll('#results li')].map((made) => made.getBoundingClientRect().toJSON())")
        assert len(boxes) == 20 and all(box["height"] > 0 for box in boxes)
        clipped = page.js("""(() => {
            const list = document.getElementById('list-panel');
            return [list, document.body].some((made) => made.scrollHeight > made.clientHeight + 1 && getComputedStyle(made).overflowY !== 'visible')
                || getComputedStyle(list).visibility !== 'visible';
        })()""")
        assert not clipped
        page.cdp("Emulation.setEmulatedMedia", media="")
