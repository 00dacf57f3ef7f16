"""The page as a browser shows it: drawn without errors, followed by light and dark, usable by keyboard, on a phone."""

import os
import re
import shutil

import pytest

from paretognn.report import read_run, write_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"]


@pytest.fixture(scope="module")
def browser():
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed: the report is not looked at in a browser")
    playwright = pytest.importorskip("playwright.sync_api")
    flags = [*FLAGS, "--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else FLAGS
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=flags)
        yield started
        started.close()


@pytest.fixture(scope="module")
def address(hostile_run, plain_run, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report([read_run(hostile_run), read_run(plain_run)], path)
    return path.as_uri()


def opened(browser, address, width=1200, scheme="light"):
    """The page scrolled through, what its console said, and the addresses that it asked for."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.goto(address)
    for place in page.query_selector_all(".plot"):
        place.scroll_into_view_if_needed()
    page.wait_for_function("[...document.querySelectorAll('.plot')].every(p => p.querySelector('.cartesianlayer .xy'))")
    return page, said, asked


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (360, "dark")])
def test_every_chart_is_drawn_without_errors_and_without_the_network(browser, address, width, scheme):
    page, said, asked = opened(browser, address, width, scheme)
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    drawn = "p.querySelector('.cartesianlayer').querySelector('path, image')"
    assert page.evaluate(f"[...document.querySelectorAll('.plot')].filter(p => !{drawn}).map(p => p.id)") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground, ink = page.evaluate("(s => [s.backgroundColor, s.color])(getComputedStyle(document.body))")
    lightness = [sum(map(int, re.findall(r"\d+", value))) for value in (ground, ink)]
    assert (lightness[0] < lightness[1]) is (scheme == "dark")
    text = page.evaluate("document.querySelector('#map-0 .legendtext').style.fill")
    assert text == ink
    page.close()


def test_ids_are_text_in_hover_boxes_and_tables(browser, address):
    page, said, _ = opened(browser, address)
    page.evaluate("Plotly.Fx.hover('map-0', [{curveNumber: 0, pointNumber: 0}])")
    hover = page.locator("#map-0 .hoverlayer .nums").first
    hover.wait_for()
    assert hover.text_content() == "<img src=x onerror=alert(1)>"
    assert page.locator("#neighbours").evaluate("e => e.querySelectorAll('img, script').length") == 0
    assert said == []
    page.close()


def test_colours_are_chosen_and_ids_found_by_keyboard(browser, address):
    page, said, _ = opened(browser, address)

    def visible():
        return page.evaluate("document.getElementById('map-0').data.filter(t => t.visible !== false).map(t => t.meta)")

    assert set(visible()) == {"label"}
    page.locator("select[data-chart='map-0']").focus()
    page.keyboard.press("ArrowDown")
    assert set(visible()) == {"partition"}
    page.keyboard.press("Tab")
    page.keyboard.type("a&b")
    said_of_it = page.locator("output[data-found='map-0']")
    assert said_of_it.text_content() == "ringed on the map"
    page.keyboard.type("?")
    assert said_of_it.text_content() == "not among the nodes shown"
    assert set(visible()) == {"partition"}
    page.locator("#training summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#training details[open] td").first.is_visible()
    assert said == []
    page.close()


def test_a_name_in_the_legend_hides_its_nodes(browser, address):
    page, _, _ = opened(browser, address)
    page.locator("#map-0 .legendtoggle").first.click()
    page.wait_for_function("document.getElementById('map-0').data[0].visible === 'legendonly'")
    page.close()
