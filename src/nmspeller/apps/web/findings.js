// The findings beside the text, one line each, and the small window over a word. Both open the same card.

import { element, icon } from "./element.js"
import { isDoubtful, isHint, kindOf } from "./kinds.js"
import { _, fill, presentLanguage } from "./language.js"
import { ownReplacement } from "./own.js"

const MOST_ROWS = 100
const MOST_OPTIONS = 5
const FOCUSABLE = "button, input"

// The same finding in several places is one group, in the order of first places; in another person's words, each is by itself.
export function groupsOf(findings) {
  const groups = new Map()
  for (const finding of findings) {
    const { source, target, reason, rule, byAnother, inCodePoints } = finding
    const key = JSON.stringify([source, target, reason, rule, byAnother && inCodePoints.offset])
    if (!groups.has(key)) groups.set(key, { key, findings: [] })
    groups.get(key).findings.push(finding)
  }
  return [...groups.values()]
}

// As a screen reader says it.
export function spoken(finding, target = finding.target) {
  const values = { source: finding.source, target, kind: finding.label }
  if (isHint(finding)) return fill(_("{source}, please check, {kind}"), values)
  if (!finding.source) return fill(_("insert {target}, {kind}"), values)
  if (!target) return fill(_("{source}, delete it, {kind}"), values)
  return fill(_("{source}, change to {target}, {kind}"), values)
}

// Nothing is ever quite certain.
const percent = (confidence) => `${Math.min(99, Math.round(100 * confidence))}%`

// White space has to be seen to be judged.
export const visible = (text) => text.replaceAll(" ", "␣").replaceAll("\u3000", "□").replaceAll("\t", "⇥")

function change({ source, target }) {
  const parts = []
  if (target === null) parts.push(element("b", {}, visible(source)))
  else if (source) parts.push(element("del", {}, visible(source)))
  if (target) parts.push(element("ins", {}, visible(target)))
  return element("span", { class: "change", lang: "zh" }, ...parts)
}

const sign = (finding) => element("span", { class: "sign", "aria-hidden": "true", lang: "zh" }, kindOf(finding).sign)

const before = ({ span, offset }) => [...span.text.slice(0, offset).split(/[\n。！？]/).at(-1)].slice(-5).join("")
const after = ({ span, offset, length }) => [...span.text.slice(offset + length).split("\n")[0]].slice(0, 18).join("")

// What a finding is, why, what else it could be, and what to do; `group` are all findings like it.
function card(finding, group, { accept, ignore, protect, go }) {
  const others = finding.alternatives.filter((one) => one !== finding.target)
  const targets = isHint(finding) ? [] : [finding.target, ...others]
  const options = targets.slice(0, MOST_OPTIONS).map((target, index) =>
    element(
      "button",
      {
        class: index ? "option" : "option best",
        lang: "zh",
        "aria-label": spoken(finding, target),
        onclick: () => accept([finding], target),
      },
      visible(target) || _("Delete"),
    ),
  )
  const count = group.length
  const doubt = isDoubtful(finding)
    ? [element("span", { class: "doubt" }, fill(_("confidence {percent}"), { percent: percent(finding.confidence) }))]
    : []
  const places = group.indexOf(finding)
  const step = (by, label, mark) =>
    element("button", { class: "quiet tiny", "aria-label": label, onclick: () => go(group[(places + by + count) % count]) }, mark)
  return element(
    "div",
    { class: `card ${kindOf(finding).kind}` },
    element("p", { class: "kind" }, element("b", {}, finding.label), ...doubt),
    ...(finding.why ? [element("p", { class: "why" }, finding.why)] : []),
    ...(finding.span.where ? [element("p", { class: "where" }, finding.span.where.label)] : []),
    ...(finding.byAnother ? [element("p", { class: "whose" }, _("Another person's words: “Accept all” leaves them as they are."))] : []),
    element("div", { class: "options", role: "group", "aria-label": _("Suggestions") }, ...options),
    ownReplacement(finding, accept),
    ...(count > 1
      ? [
          element(
            "div",
            { class: "places" },
            element(
              "button",
              { class: "plain small accept-these", hidden: isHint(finding), onclick: () => accept(group, finding.target) },
              fill(_("Accept all of these ({count})"), { count }),
            ),
            element("span", { class: "spring" }),
            step(-1, _("Previous place"), "‹"),
            element("span", { class: "place" }, `${places + 1}/${count}`),
            step(1, _("Next place"), "›"),
          ),
        ]
      : []),
    element(
      "div",
      { class: "row" },
      element("button", { class: "link ignore", onclick: () => ignore([finding]) }, _("Ignore")),
      ...(count > 1 ? [element("button", { class: "link", onclick: () => ignore(group) }, _("Ignore all"))] : []),
      element("span", { class: "spring" }),
      element("button", { class: "link", onclick: () => protect(finding) }, _("Add to my words")),
    ),
  )
}

export class Rows {
  constructor(list, actions) {
    this.list = list
    this.actions = actions
    this.groups = new Map()
    this.rows = new Map() // key of a group -> { looks, node }
    this.open = null // { key, place }
  }

  // Rows that look as before stay; one that is drawn anew keeps its focus.
  draw(findings) {
    const focused = this.focused()
    const groups = groupsOf(findings)
    this.groups = new Map(groups.map((group) => [group.key, group.findings]))
    if (this.open && !this.groups.has(this.open.key)) this.open = null
    const rows = new Map()
    for (const { key, findings } of groups.slice(0, MOST_ROWS)) {
      const isOpen = this.open?.key === key
      if (isOpen) this.open.place = Math.min(this.open.place, findings.length - 1)
      const { label, why, alternatives, confidence } = findings[0]
      const around = before(findings[0]) + after(findings[0])
      const looks = [presentLanguage(), findings.length, around, label, why, alternatives, confidence, isOpen && this.open.place].join("|")
      const old = this.rows.get(key)
      rows.set(key, old?.looks === looks ? old : { looks, node: this.row(key, findings, isOpen) })
    }
    const nodes = [...rows.values()].map(({ node }) => node)
    if (groups.length > MOST_ROWS)
      nodes.push(element("li", { class: "calm" }, fill(_("{count} more appear when these are done."), { count: groups.length - MOST_ROWS })))
    // Taking a node out of the page and putting it in again would lose its focus.
    for (const node of [...this.list.children]) if (!nodes.includes(node)) node.remove()
    nodes.forEach((node, index) => {
      if (this.list.children[index] !== node) this.list.insertBefore(node, this.list.children[index] ?? null)
    })
    this.rows = rows
    const next = rows.get(focused?.key)?.node
    if (next && !next.contains(document.activeElement)) {
      const buttons = next.querySelectorAll(FOCUSABLE)
      ;(buttons[focused.button] ?? buttons[0]).focus({ preventScroll: true })
    }
  }

  // Which row has the focus, and on which of its buttons.
  focused() {
    for (const [key, { node }] of this.rows)
      if (node.contains(document.activeElement))
        return { key, button: [...node.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement) }
    return null
  }

  row(key, findings, isOpen) {
    const finding = findings[isOpen ? this.open.place : 0]
    const { kind } = kindOf(finding)
    const count = findings.length
    const many = count > 1 ? [element("span", { class: "count" }, `×${count}`)] : []
    const doubt = isDoubtful(finding) ? [element("span", { class: "doubt", title: _("low confidence") }, _("low"))] : []
    const whose = finding.byAnother ? [element("span", { class: "doubt whose", title: _("another person's words") }, _("another's"))] : []
    const label = [
      spoken(finding),
      isDoubtful(finding) && _("low confidence"),
      finding.byAnother && _("another person's words"),
      count > 1 && fill(_("in {count} places"), { count }),
    ]
    const line = element(
      "div",
      { class: "line" },
      element(
        "button",
        {
          class: "open",
          "aria-expanded": String(isOpen),
          "aria-label": label.filter(Boolean).join(_(", ")),
          onclick: () => this.toggle(key),
        },
        sign(finding),
        element("span", { class: "text" }, element("span", { class: "around" }, before(finding)), change(finding), element("span", { class: "around" }, after(finding))),
        ...doubt,
        ...whose,
        ...many,
      ),
      element(
        "button",
        {
          class: "tick",
          hidden: isHint(finding),
          title: count > 1 ? fill(_("Accept all of these ({count})"), { count }) : _("Accept"),
          "aria-label": fill(_("Accept: {what}"), { what: label.filter(Boolean).join(_(", ")) }),
          onclick: () => this.actions.accept(this.groups.get(key), finding.target),
        },
        icon("tick"),
      ),
    )
    const node = element("li", { class: `finding ${kind}`, "data-open": isOpen }, line)
    if (isOpen) node.append(this.card(key))
    return node
  }

  // Its findings may have moved in the text since it was drawn.
  card(key) {
    const current = () => this.groups.get(key)
    const { accept, ignore, protect } = this.actions
    const here = (list) => (list.length === 1 ? [current()[this.open.place]] : current())
    return card(current()[this.open.place], current(), {
      accept: (list, target) => accept(here(list), target),
      ignore: (list) => ignore(here(list)),
      protect: () => protect(current()[this.open.place]),
      go: (finding) => this.show(key, current().findIndex(({ key }) => key === finding.key)),
    })
  }

  toggle(key) {
    if (this.open?.key === key) this.close()
    else this.show(key, 0)
  }

  show(key, place) {
    this.open = { key, place: Math.max(0, place) }
    this.actions.point(this.groups.get(key)[this.open.place])
  }

  close() {
    this.open = null
    this.actions.point(null)
  }

  // The row that has the focus, or -1; after a change a keyboard goes on with the one in its place.
  get place() {
    return [...this.list.children].findIndex((row) => row.contains(document.activeElement))
  }

  focusAt(place) {
    const row = this.list.children[Math.min(place, this.list.children.length - 1)]
    row?.querySelector(".open")?.focus({ preventScroll: true })
    return Boolean(row)
  }
}

export class Popover {
  constructor(box, actions) {
    this.box = box
    this.actions = actions
    box.addEventListener("keydown", (event) => this.key(event))
    document.addEventListener("pointerdown", (event) => {
      if (!box.hidden && !box.contains(event.target)) this.close(false)
    })
  }

  get open() {
    return !this.box.hidden
  }

  show(finding, group, rectangle, { focus }) {
    const head = element("p", { class: "head" }, sign(finding), change(finding))
    const body = card(finding, group, this.actions)
    body.prepend(head)
    this.box.setAttribute("aria-label", spoken(finding))
    this.box.replaceChildren(body)
    this.box.hidden = false
    this.place(rectangle)
    if (focus) this.box.querySelector("button").focus()
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
    this.actions.onClose(back)
  }
}
