"""How the page looks and is operated: contrast, focus, motion, phones, empty and clean states, languages."""

import itertools

import pytest
from looking import text, wait_until_checked, write

CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true })
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = colour
    canvas.fillRect(0, 0, 1, 1)
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data
    return [r, g, b, a / 255]
  }
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1]
  const behind = (element) => {
    const layers = []
    for (let one = element; one; one = one.parentElement) {
      layers.push(rgba(getComputedStyle(one).backgroundColor))
      if (layers.at(-1)[3] === 1) break
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1])
  }
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
  const ratio = (one, other) => {
    const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b)
    return (bright + 0.05) / (dark + 0.05)
  }
  const poor = []
  let seen = 0
  const judge = (element, colour, least, what) => {
    const background = behind(element)
    const found = ratio(over(rgba(colour), background), background)
    seen += 1
    if (found < least) poor.push(`${what}: ${found.toFixed(2)} (${colour} on ${background})`)
  }
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) {
    const node = walk.currentNode
    const element = node.parentElement
    const style = getComputedStyle(element)
    if (!node.data.trim() || !element.checkVisibility()) continue
    if (element.closest("#underlay, .unseen, noscript")) continue
    const size = parseFloat(style.fontSize)
    const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700)
    judge(element, style.color, isLarge ? 3 : 4.5, node.data.trim().slice(0, 20))
  }
  const area = document.querySelector("#text")
  judge(area, getComputedStyle(area).color, 4.5, "the text")
  for (const field of document.querySelectorAll("[placeholder]")) {
    const { color } = getComputedStyle(field, "::placeholder")
    if (field.checkVisibility()) judge(field, color, 4.5, field.placeholder)
  }
  for (const mark of document.querySelectorAll("#underlay mark"))
    judge(area, getComputedStyle(mark).textDecorationColor, 3, `the line of ${mark.className}`)
  return { poor, seen }
}"""


@pytest.fixture
def page(open_page, fake_server):
    return open_page(fake_server)


def assert_contrast(page):
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        result = page.evaluate(CONTRAST)
        assert result["poor"] == [], theme
        assert result["seen"] > 15


@pytest.mark.parametrize("width", [1280, 390])
def test_all_text_has_enough_contrast(open_page, fake_server, width):
    page = open_page(fake_server, width=width, still=True)
    assert_contrast(page)
    write(page, "高心，己是，平果甜，平果脆，跑的快", 5)
    page.locator(".finding .open").nth(2).click()
    assert_contrast(page)
    if width == 390:
        page.click("#menu")
    page.click("#open-words")
    page.fill("#word", "词语")
    page.keyboard.press("Enter")
    assert_contrast(page)
    page.keyboard.press("Escape")
    page.click("#open-rules")
    page.wait_for_selector("#rules-list li + li")
    assert_contrast(page)
    page.keyboard.press("Escape")
    write(page, "没有错。", 0)
    page.wait_for_selector("#clean")
    assert_contrast(page)
    page.set_input_files("#file-input", {"name": "a.txt", "mimeType": "", "buffer": "高心".encode()})
    wait_until_checked(page, 1)
    page.locator(".finding .open").click()
    assert_contrast(page)


def test_everything_can_be_seen_in_the_colours_of_the_system(open_page, fake_server):
    page = open_page(fake_server, dark=True, still=True)
    page.emulate_media(forced_colors="active")
    write(page, "高心", 1)
    mark = page.locator("#underlay mark")
    assert mark.evaluate("mark => getComputedStyle(mark).color") == "rgba(0, 0, 0, 0)"
    page.click("#open-rules")
    page.wait_for_selector("#rules-list li + li")
    page.click("label.switch >> nth=0")
    background = "one => getComputedStyle(one).backgroundColor"
    chosen = {
        page.locator(one).evaluate(background)
        for one in ("input[value=balanced] + span", ".switch input:checked + .track")
    }
    others = {
        page.locator(one).evaluate(background)
        for one in ("input[value=careful] + span", ".switch input:not(:checked) + .track")
    }
    assert len(chosen) == 1
    assert not chosen & others


def test_the_focus_is_always_visible(open_page, fake_server):
    page = open_page(fake_server, still=True)
    write(page, "高心", 1)
    page.locator(".finding .open").click()
    page.focus(".skip")
    seen = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        name, visible = page.evaluate("""() => {
            const one = document.activeElement
            const outlined = (it) => {
                const { outlineStyle, outlineWidth } = it ? getComputedStyle(it) : {}
                return it && outlineStyle !== "none" && parseFloat(outlineWidth) >= 2
            }
            const edge = (selector) => getComputedStyle(document.querySelector(selector)).borderColor
            const isText = one.id === "text" && edge(".sheet") !== edge(".status")
            return [
                one.id || one.className || one.tagName,
                outlined(one) || outlined(one.nextElementSibling) || isText,
            ]
        }""")
        if name == "BODY":
            break
        assert visible, name
        seen.add(name)
    assert {"text", "open-words", "open-file", "accept-all", "open", "tick", "theme"} <= seen


def test_nothing_moves_for_those_who_ask_for_that(open_page, start_fake_server):
    server = start_fake_server({"FAKE_SECONDS": "0.5"})
    moving = {}
    for still in (False, True):
        page = open_page(server.address, still=still)
        page.fill("#text", "我很高心。")
        page.wait_for_selector("#state[data-state=checking]")
        moving[still] = page.evaluate("document.getAnimations().length")
        wait_until_checked(page, 1)
    assert moving[False] > 0
    assert moving[True] == 0


def test_on_a_phone_tools_fold_and_accepting_all_stays_in_reach(open_page, fake_server):
    page = open_page(fake_server, width=390, height=844)
    assert not page.is_visible("#accept-all")
    lines = ["平果", "己是", "高心", "跑的快"]
    write(page, "\n".join(f"第{number}句{lines[number % 4]}" for number in range(12)), 12)
    assert not page.is_visible("#open-file")
    assert page.get_attribute("#menu", "aria-expanded") == "false"
    page.click("#menu")
    assert page.get_attribute("#menu", "aria-expanded") == "true"
    assert page.is_visible("#open-file")
    for where in ("0", "document.documentElement.scrollHeight"):
        page.evaluate(f"scrollTo(0, {where})")
        box = page.locator("#accept-all").bounding_box()
        assert box["height"] >= 44
        assert 0 <= box["y"] <= 844 - box["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.evaluate(
        """() => [...document.querySelectorAll(".tick, .open, #accept-all, .more button")]
            .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 39.5)
            .map((one) => one.outerHTML.slice(0, 60))"""
    )
    assert small == []
    page.tap("#accept-all")
    assert "苹果" in text(page)
    assert page.evaluate("document.activeElement.id") != "text"


def test_an_empty_page_offers_an_example_and_files(page):
    assert page.is_visible("#welcome")
    assert page.is_visible("#legend")
    with page.expect_file_chooser():
        page.click("#welcome-open")
    page.click("#example")
    wait_until_checked(page, 3)
    assert not page.is_visible("#welcome")
    assert not page.is_visible("#legend")


def test_a_clean_text_is_said_to_be_and_thorough_offered(page):
    page.check("[name=level][value=careful]")
    write(page, "平果", 0)
    page.wait_for_selector("#clean")
    assert "没有发现错字" in page.inner_text("#clean")
    page.click("#try-thorough")
    wait_until_checked(page, 1)
    assert page.is_checked("[name=level][value=thorough]")
    write(page, "没有错。", 0)
    page.wait_for_selector("#clean")
    assert not page.is_visible("#try-thorough")


def test_what_went_wrong_is_said_where_suggestions_would_be(open_page, fake_server):
    page = open_page(fake_server, allow_errors=True)
    page.route("**/v1/check", lambda route: route.abort())
    page.fill("#text", "我很高心。")
    page.wait_for_selector("#state[data-state=offline]")
    assert page.inner_text("#waiting") == page.inner_text("#state-text")


def test_progress_of_a_long_text_is_shown_in_per_cent(open_page, start_fake_server):
    page = open_page(start_fake_server({"FAKE_SECONDS": "0.1"}).address)
    write(page, "高心", 1)
    assert not page.is_visible("#progress")
    page.evaluate("""() => {
        window.seen = []
        const percent = document.querySelector("#percent")
        new MutationObserver(() => percent.hidden || seen.push(parseInt(percent.textContent)))
            .observe(percent, { childList: true, attributes: true })
    }""")
    write(page, "\n".join(f"第{number}段，" + "好" * 90 for number in range(80)), 0)
    seen = page.evaluate("seen")
    assert len(set(seen)) >= 3
    assert all(before <= after for before, after in itertools.pairwise(seen))
    assert not page.is_visible("#progress")


def test_everything_is_said_in_the_language_of_the_reader(open_page, fake_server):
    def words(page, pattern):
        return page.evaluate(
            """pattern => {
                const found = []
                const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
                while (walk.nextNode()) {
                    const { data, parentElement } = walk.currentNode
                    if (!parentElement.closest("noscript, [lang=zh], #underlay, #language"))
                        found.push(...(data.match(new RegExp(pattern, "gu")) ?? []))
                }
                for (const name of ["title", "placeholder", "aria-label"])
                    for (const one of document.querySelectorAll(`[${name}]:not(#language)`))
                        found.push(...(one.getAttribute(name).match(new RegExp(pattern, "gu")) ?? []))
                return [...new Set(found)]
            }""",
            pattern,
        )

    chinese = open_page(fake_server, locale="zh-TW")
    write(chinese, "没有错", 0)
    names = {"nmspeller", "Alt", "Enter", "Esc", "Ctrl"}
    names |= {"Word", "PowerPoint", "OpenDocument", "Markdown", "LaTeX"}
    assert set(words(chinese, "[A-Za-z]{2,}")) <= names
    english = open_page(fake_server, locale="de-DE")
    write(english, "没有错", 0)
    assert set(words(english, r"\p{Script=Han}+")) <= {"的", "地", "得", "音", "形", "义", "规"}


def test_the_server_is_asked_in_the_language_of_the_page(page):
    sent = []
    page.on("request", lambda request: sent.append(request.headers) if "v1/check" in request.url else None)
    write(page, "高心", 1)
    page.click("#language")
    page.wait_for_function("() => document.documentElement.lang === 'en'")
    wait_until_checked(page, 1)
    page.wait_for_timeout(100)
    assert [headers["accept-language"] for headers in sent] == ["zh", "en"]


def test_the_policy_allows_nothing_but_the_servers_own_files(page):
    policy = page.request.get(page.url).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
