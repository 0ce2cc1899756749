"""Where things are on the page: at any width, on phones with and without their keyboard, in the text."""

import io

import docx
import pytest
from looking import wait_until_checked, write


@pytest.fixture
def page(open_page, fake_server):
    return open_page(fake_server)


KEYBOARD = """height => {
  Object.defineProperty(visualViewport, "height", { configurable: true, get: () => innerHeight - height })
  visualViewport.dispatchEvent(new Event("resize"))
}"""


def seen_above(page, box, keyboard):
    """Whether the finding that is open lies in the view, above the box and the keyboard."""
    mark = page.locator("#underlay mark.active").bounding_box()
    frame = page.locator("#scroll").bounding_box()
    height = page.viewport_size["height"] - keyboard
    lowest = min(box["y"], height, frame["y"] + frame["height"])
    assert box["y"] + box["height"] <= height
    return max(0, frame["y"]) <= mark["y"] and mark["y"] + mark["height"] <= lowest


@pytest.mark.parametrize("lines", [1, 12, 60])
def test_a_finding_opened_on_a_phone_is_in_view_above_the_keyboard(open_page, fake_server, lines):
    page = open_page(fake_server, width=360, height=640, still=True)
    write(page, "\n".join(["很好。"] * (lines - 1) + ["我很高心。", "他己是来了。"]), 2)
    page.focus("#text")
    page.keyboard.press("Alt+ArrowUp")
    page.wait_for_selector("#popover .option:focus")
    for keyboard in (0, 260, 0):
        page.evaluate(KEYBOARD, keyboard)
        page.wait_for_timeout(100)
        assert seen_above(page, page.locator("#popover").bounding_box(), keyboard), (lines, keyboard)
    page.keyboard.press("Alt+ArrowDown")
    page.wait_for_timeout(100)
    assert seen_above(page, page.locator("#popover").bounding_box(), 0)


def test_a_row_opened_on_a_phone_is_in_view_above_the_button(open_page, fake_server):
    page = open_page(fake_server, width=360, height=640, still=True)
    write(page, "我很高心。\n平果甜。\n他己是来了。\n跑的快。", 4)
    page.evaluate("scrollTo(0, 0)")
    page.locator(".finding .open").last.focus()
    page.keyboard.press("Enter")
    page.wait_for_timeout(100)
    card = page.locator(".finding[data-open]").bounding_box()
    assert card["y"] >= 0
    assert card["y"] + card["height"] <= page.locator("#accept-all").bounding_box()["y"]


COLLISIONS = """() => {
  const bars = ".brand > *, .corner > *, .toolbar :is(button, label), .file > *, .status > *, .findings h2"
  const isInTheFlow = (one) => one.checkVisibility() && getComputedStyle(one).position !== "fixed"
  const shown = [...document.querySelectorAll(bars)].filter(isInTheFlow)
  const boxes = shown
    .map((one) => ({ name: one.id || one.textContent.trim(), box: one.getBoundingClientRect(), one }))
    .filter(({ box }) => box.width && box.height)
  const found = []
  boxes.forEach(({ name, box, one }, index) => {
    if (box.left < 0 || box.right > innerWidth) found.push(`${name} leaves the page`)
    const isCut = one.matches("button, label, h1") && one.scrollWidth > one.clientWidth + 1
    if (isCut) found.push(`${name} is cut off`)
    for (const { name: other, box: its } of boxes.slice(index + 1)) {
      const wide = Math.min(box.right, its.right) - Math.max(box.left, its.left)
      const high = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top)
      if (wide > 1 && high > 1) found.push(`${name} lies over ${other}`)
    }
  })
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways")
  return found
}"""


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_nothing_overlaps_or_scrolls_sideways_at_any_width(open_page, fake_server, locale):
    page = open_page(fake_server, locale=locale, still=True)

    def collisions(state):
        found = {}
        for width in range(320, 1601, 20):
            page.set_viewport_size({"width": width, "height": 800})
            if collided := page.evaluate(COLLISIONS):
                found[f"{state}, {width} px"] = collided
        return found

    page.click("#open-words")
    page.fill("#word", "词语")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.evaluate("localStorage.setItem('nmspeller.rules', '[]')")
    page.reload()
    write(page, "我很高心。" * 123, 123)
    found = collisions("findings")
    document, content = docx.Document(), io.BytesIO()
    document.add_paragraph("我很高心")
    document.save(content)
    name = "一份名字相当长的文件，看看放不放得下.docx"
    page.set_input_files("#file-input", {"name": name, "mimeType": "", "buffer": content.getvalue()})
    wait_until_checked(page, 1)
    page.click("#accept-all")
    found |= collisions("a file")
    assert found == {}


def test_no_kind_of_mark_takes_room_in_the_text(page):
    write(page, "我喜跑步，他他来了，觉睡，高心，己是，跑的快，到此为止。。", 7)
    assert set(
        page.evaluate("[...document.querySelectorAll('mark')].map((one) => getComputedStyle(one).display)")
    ) == {"inline"}
    widths = page.evaluate("[...document.querySelectorAll('mark.gap')].map((one) => one.offsetWidth)")
    assert widths == [0]
