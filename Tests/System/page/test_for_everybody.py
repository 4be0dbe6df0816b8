"""For whom the page is: keyboards, small and enlarged screens, forced colours, and names that are read aloud (WCAG 2.2 AA;
Documentation/page.md has each criterion)."""

import pytest
from selenium.webdriver.common.keys import Keys

from psql import psql
from start_page import DESKTOP, PHONE, SAN_JOSE

IN_THE_MAP = """(() => {
    const [made, map] = [document.activeElement, document.getElementById('map')].map((element) => element.getBoundingClientRect());
    return document.activeElement.classList.contains('spot') && made.left >= map.left && made.right <= map.right
        && made.top >= map.top && made.bottom <= map.bottom;
})()"""

# The id or class of what has the focus, once there is an outline around it, or around what is shown for it.
FOCUSED_AND_SEEN = """(() => {
    const made = document.activeElement;
    if (made === document.body) return 'body';
    const shown = made.matches('#from input') ? made.nextElementSibling : made;
    const { outlineStyle, outlineWidth } = getComputedStyle(shown);
    const { borderTopWidth, content } = getComputedStyle(document.getElementById('map-panel'), '::after');
    const [outline, border] = [outlineStyle !== 'none' && parseFloat(outlineWidth), content !== 'none' && parseFloat(borderTopWidth)];
    return (made.matches('#map') ? border : outline) >= 2 && (made.id || made.className || made.localName);
})()"""


def test_arrow_keys_reach_every_place(page):
    psql(page.server.database, """
        INSERT INTO locations (name, category, latitude, longitude)
        SELECT 'Place ' || n, 'park', -30 + 0.001 * (n * 7 % 11), 80 + 0.0013 * (n * 5 % 13) FROM generate_series(1, 12) n""")
    page.wait_for_places(12, lat=-30, long=80)
    page.open("at=-29.995,80.007,15")
    expected = set(page.js("[...document.querySelectorAll('.spot')].map((made) => made.dataset.key)"))
    assert len(expected) > 8
    page.driver.execute_script("document.querySelector('.spot[tabindex=\"0\"]').focus()")
    for there, back in [(Keys.ARROW_RIGHT, Keys.ARROW_LEFT), (Keys.ARROW_DOWN, Keys.ARROW_UP)]:
        reached = set()
        for key in [back] * len(expected) + [there] * len(expected):
            page.driver.switch_to.active_element.send_keys(key)
            reached.add(page.js("document.activeElement.dataset.key"))
            assert page.js("document.querySelectorAll('.spot[tabindex=\"0\"]').length") == 1
        assert reached == expected


def test_what_has_the_focus_is_seen_and_stays_on_the_map(page):
    page.open(SAN_JOSE)
    for _ in range(4):
        page.driver.execute_script("""
            const places = [...document.querySelectorAll('.spot')];
            places.sort((one, other) => other.getBoundingClientRect().x - one.getBoundingClientRect().x)[0].focus({ preventScroll: true });
        """)
        page.wait(IN_THE_MAP)
        page.settle()
        assert page.js(IN_THE_MAP), "the focus is lost when the map has moved"
        page.wait("getComputedStyle(document.activeElement).outlineStyle === 'solid'")
    seen = set()
    page.open(SAN_JOSE)
    for _ in range(60):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        # The window itself may be without the focus for a moment on a busy machine, and then nothing has an outline.
        what = page.wait(FOCUSED_AND_SEEN)
        if what == "body":
            break
        seen.add(what)
    assert {"q", "map", "zoom-in"} <= seen


def test_forced_colours_leave_the_places_visible(page):
    for scheme in ("light", "dark"):
        page.open(SAN_JOSE.replace("16", "15") + "&marker=37.335,-121.885", scheme=scheme, forced="active")
        ground = page.js("(() => { const made = document.createElement('p'); made.style.color = 'Canvas'; document.body.append(made); "
                         "const { color } = getComputedStyle(made); made.remove(); return color; })()")
        for selector in (".cluster .dot", ".place .dot", ".marker span"):
            shown = page.js("getComputedStyle(document.querySelector(arguments[0])).backgroundColor", selector)
            assert shown not in (ground, "rgba(0, 0, 0, 0)"), (selector, scheme)


@pytest.mark.parametrize("size", [(320, 256), (667, 375), (844, 390), (932, 430)])
def test_low_screens_scroll_and_have_a_map(page, size):
    """320 by 256 is 1280 by 1024, enlarged to 400 %."""
    place = page.ask("locations", lat=37.3292, long=-121.8889, limit=1)[0]["id"]
    page.open(f"{SAN_JOSE}&place={place}", size)
    page.wait("!document.getElementById('detail').hidden")
    assert page.js("document.documentElement.scrollWidth") == size[0]
    assert page.js("document.getElementById('map').clientHeight") >= 200
    for selector in ("#detail .close", "#q", "#map-tools", "footer a"):
        box = page.js("(() => { const made = document.querySelector(arguments[0]); made.scrollIntoView({ block: 'nearest' }); "
                      "return made.getBoundingClientRect().toJSON(); })()", selector)
        assert box["top"] >= -1 and box["bottom"] <= size[1] + 1 and box["height"] > 0, (selector, box)


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_names_that_are_read_aloud_have_spaces(page, size):
    page.open(SAN_JOSE, size)
    page.cdp("Accessibility.enable")
    nodes = page.cdp("Accessibility.getFullAXTree")["nodes"]
    page.cdp("Accessibility.disable")
    names = [node["name"]["value"] for node in nodes if node.get("role", {}).get("value") == "button" and not node["ignored"]]
    assert "theatre 15" in [name.lower() for name in names], names
    first = page.ask("locations", **page.middle(), limit=1)[0]
    if size == DESKTOP:
        assert any(name.startswith(f"{first['name']} {round(first['distance'])} m ") for name in names), names
    assert all(names)
