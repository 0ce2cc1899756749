// The suggestions beside the text, one card each, and the small window over a word; both offer the same things.

import { t } from "./language.js"

const MOST_CARDS = 100

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes))
    attribute.startsWith("on") ? made.addEventListener(attribute.slice(2), value) : made.setAttribute(attribute, value)
  made.append(...children)
  return made
}

export function percent(confidence) {
  // Nothing is ever quite certain.
  return `${Math.min(99, Math.round(100 * confidence))}%`
}

export function drawCards(list, findings, { choose, accept, ignore }) {
  const cards = findings.slice(0, MOST_CARDS).map((finding) =>
    element(
      "li",
      { class: "card", "data-start": finding.start },
      element(
        "button",
        { class: "change", onclick: () => choose(finding) },
        element("span", { class: "around" }, before(finding)),
        element("del", {}, finding.source),
        element("ins", {}, finding.target),
        element("span", { class: "around" }, after(finding)),
      ),
      element("p", { class: "why" }, t(finding.reason), " · ", t("sure", { percent: percent(finding.confidence) })),
      element(
        "div",
        { class: "row" },
        element("button", { class: "primary small", onclick: () => accept(finding, finding.target) }, t("accept")),
        element("button", { class: "plain small", onclick: () => ignore(finding) }, t("ignore")),
      ),
    ),
  )
  if (findings.length > MOST_CARDS)
    cards.push(element("li", { class: "calm" }, t("more", { count: findings.length - MOST_CARDS })))
  list.replaceChildren(...cards)
}

const before = ({ piece, offset }) => [...piece.text.slice(0, offset).split("\n").at(-1)].slice(-6).join("")
const after = ({ piece, offset, length }) => [...piece.text.slice(offset + length).split("\n")[0]].slice(0, 6).join("")

export class Popover {
  constructor(box, { accept, ignore, protect, onClose }) {
    this.box = box
    this.actions = { accept, ignore, protect }
    this.onClose = onClose
    box.addEventListener("keydown", (event) => this.key(event))
    document.addEventListener("pointerdown", (event) => {
      if (!box.hidden && !box.contains(event.target)) this.close(false)
    })
  }

  get open() {
    return !this.box.hidden
  }

  show(finding, rectangle, { focus }) {
    const { accept, ignore, protect } = this.actions
    const targets = [finding.target, ...finding.alternatives.filter((one) => one !== finding.target)].slice(0, 5)
    const options = targets.map((target, index) =>
      element(
        "button",
        {
          class: index ? "option" : "option best",
          "aria-label": `${finding.source} → ${target}`,
          onclick: () => accept(finding, target),
        },
        target,
      ),
    )
    const sure = element("span", { class: "gauge", "aria-hidden": "true" }, element("span"))
    sure.firstElementChild.style.width = percent(finding.confidence)
    this.box.replaceChildren(
      element("p", { class: "why" }, element("b", {}, `${finding.source} → ${finding.target}`), t(finding.reason)),
      element("div", { class: "sure" }, sure, t("sure", { percent: percent(finding.confidence) })),
      element("div", { class: "options", role: "group", "aria-label": t("alternatives") }, ...options),
      element(
        "div",
        { class: "row" },
        element("button", { class: "link", onclick: () => ignore(finding) }, t("ignore")),
        element("span", { class: "spring" }),
        element("button", { class: "link", onclick: () => protect(finding) }, t("protect")),
      ),
    )
    this.box.hidden = false
    this.place(rectangle)
    if (focus) options[0].focus()
  }

  place(rectangle) {
    const { offsetWidth: width, offsetHeight: height } = this.box
    const left = Math.min(Math.max(8, rectangle.left + rectangle.width / 2 - width / 2), innerWidth - width - 8)
    const below = rectangle.bottom + 8
    const top = below + height > innerHeight - 8 ? Math.max(8, rectangle.top - height - 8) : below
    this.box.style.left = `${left}px`
    this.box.style.top = `${top}px`
  }

  key(event) {
    const buttons = [...this.box.querySelectorAll("button")]
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (event.altKey) return
    if (event.key === "Escape") {
      event.preventDefault()
      this.close(true)
    } else if (step) {
      event.preventDefault()
      const index = buttons.indexOf(document.activeElement)
      buttons[(index + step + buttons.length) % buttons.length].focus()
    }
  }

  close(back) {
    if (this.box.hidden) return
    this.box.hidden = true
    this.onClose(back)
  }
}
