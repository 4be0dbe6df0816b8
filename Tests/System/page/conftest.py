"""A browser for all tests of the page, and the pages of three servers."""

import pytest

from start_page import KEY, Page, tile_server, visited


@pytest.fixture(scope="session")
def browser():
    page = Page()
    yield page
    page.driver.quit()


@pytest.fixture
def page(browser, server):
    with visited(browser, server) as page:
        yield page


@pytest.fixture
def keyed_page(fleet, browser, server):
    """Of a server that needs a key, before the same database."""
    with visited(browser, *fleet(server.database, POI_API_KEYS=KEY)) as page:
        yield page


@pytest.fixture
def tiled_page(fleet, browser, server):
    """Of a server whose map has tiles from elsewhere, before the same database; and what the tiles' host was asked."""
    with tile_server() as (tiles, requests):
        settings = {"POI_TILES_URL": f"{tiles}/{{z}}/{{x}}/{{y}}.png",
                    "POI_TILES_ATTRIBUTION": "© The tiles' makers https://tiles.example/copyright"}
        with visited(browser, *fleet(server.database, **settings), f"{tiles}/") as page:
            yield page, requests
