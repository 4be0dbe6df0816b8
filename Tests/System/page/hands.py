"""Two ways to work the page: by pointing, and by the keyboard alone. Both find things by what they are called."""

from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

# What is called so, and can be seen: a button, a link, or a field by its label.
CALLED = """((text, within) => {
    const isSeen = (made) => made.checkVisibility({ visibilityProperty: true });
    const name = (made) => (made.getAttribute('aria-label') ?? made.textContent).trim().replace(/\\s+/g, ' ');
    const root = document.querySelector(within);
    return [...(root?.querySelectorAll('button, a[href]') ?? [])].find((made) => isSeen(made) && name(made) === text)
        ?? [...(root?.querySelectorAll('input, select, textarea') ?? [])].find((made) => isSeen(made)
            && [...made.labels.values()].map(name).concat(made.getAttribute('aria-label') ?? '').includes(text))
        ?? null;
})(arguments[0], arguments[1])"""
# How many steps of the Tab key away something is: less than nothing for those before.
STEPS_TO = """((target) => {
    const stops = [...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex]')].filter((made) =>
        made.tabIndex >= 0 && !made.disabled && made.checkVisibility({ visibilityProperty: true }));
    const [from, to] = [document.activeElement, target].map((made) => stops.findIndex((stop) =>
        stop === made || Boolean(made.compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING)));
    return (to < 0 ? stops.length : to) - (from < 0 ? stops.length : from);
})(arguments[0])"""


class Hand:
    """What both do."""

    def __init__(self, page):
        self.page, self.driver = page, page.driver

    def find(self, text, within="body"):
        return self.page.wait(CALLED, text, within)

    def type(self, text):
        self.driver.switch_to.active_element.send_keys(text)

    def fill(self, label, text, within="#desk"):
        """Writes a text in place of what is in a field."""
        self.focus(self.find(label, within))
        self.driver.switch_to.active_element.send_keys(Keys.CONTROL, "a")
        self.type(text or Keys.DELETE)


class Pointer(Hand):
    """Presses things where they are."""

    def focus(self, made):
        made.click()

    def press(self, text, within="body"):
        made = self.find(text, within)
        self.driver.execute_script("arguments[0].scrollIntoView({ block: 'nearest', inline: 'nearest' })", made)
        made.click()

    def choose(self, text, within="body"):
        """Chooses one of several, or checks it."""
        made = self.find(text, within)
        self.driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", made)
        made.click()

    def show_list(self):
        self.press("List")

    def move_pin(self, meters_north):
        """Drags the pin as far as that is on the map."""
        pin = self.page.find(".edit-pin")
        pixels = self.page.js("(() => { const [, latitude, zoom] = location.hash.match(/at=([^,]+),[^,]+,(\\d+)/); "
                              "return 2 ** zoom * 256 / (2 * Math.PI * 6378137 * Math.cos(latitude * Math.PI / 180)); })()")
        ActionChains(self.driver).move_to_element_with_offset(pin, 0, 8).click_and_hold().perform()
        # It is dragged from where it isn't pressed any more.
        for step in (-4, -round(meters_north * pixels)):
            ActionChains(self.driver).move_by_offset(0, step).perform()
            # The map moves what is dragged with its next frame.
            self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        ActionChains(self.driver).release().perform()

    def press_the_map(self):
        """Where there is nothing on it."""
        made = self.page.find("#map")
        ActionChains(self.driver).move_to_element_with_offset(made, 40, -60).click().perform()


class Keyboard(Hand):
    """Tabs to things, and never points."""

    def focus(self, made):
        for _ in range(8):
            steps = self.page.js(STEPS_TO, made)
            if self.page.js("document.activeElement === arguments[0]", made):
                return
            keys = ActionChains(self.driver)
            if steps < 0:
                keys.key_down(Keys.SHIFT)
            keys.send_keys(*[Keys.TAB] * (abs(steps) or 1))
            if steps < 0:
                keys.key_up(Keys.SHIFT)
            keys.perform()
        raise AssertionError(f"the Tab key doesn't get to {made.get_attribute('outerHTML')[:200]}")

    def press(self, text, within="body"):
        self.focus(self.find(text, within))
        self.type(Keys.ENTER)

    def choose(self, text, within="body"):
        made = self.find(text, within)
        if made.get_attribute("type") == "radio":
            return self.choose_of_several(made)
        self.focus(made)
        self.type(Keys.SPACE)

    def choose_of_several(self, made):
        """The Tab key goes to one of them, and the arrow keys to the others."""
        several = "[...document.querySelectorAll(`input[name='${CSS.escape(arguments[0].name)}']`)]"
        self.focus(self.page.js(f"{several}.find(({{ checked }}) => checked) ?? {several}[0]", made))
        self.type(Keys.SPACE)
        while not self.page.js("arguments[0].checked", made):
            self.type(Keys.ARROW_DOWN)

    def show_list(self):
        self.focus(self.page.find("#map-tab"))
        self.type(Keys.ARROW_RIGHT)

    def move_pin(self, meters_north):
        self.focus(self.page.find(".edit-pin"))
        for _ in range(round(meters_north / 10)):
            ActionChains(self.driver).key_down(Keys.SHIFT).send_keys(Keys.ARROW_UP).key_up(Keys.SHIFT).perform()

    def press_the_map(self):
        self.press("In the map’s middle")
