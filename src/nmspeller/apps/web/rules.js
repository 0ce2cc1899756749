// The rules beside the model: a switch for each group of them, and one for each rule.

import { element } from "./element.js"
import { visible } from "./findings.js"
import { _, fill, onLanguage } from "./language.js"
import { recall, remember } from "./memory.js"
import { rules } from "./server.js"

const GROUPS = [
  { id: "spelling", name: () => _("Words and numbers"), what: () => _("Idioms, doubled characters, 的 地 得, dates, numbers, names") },
  { id: "typography", name: () => _("Punctuation and spaces"), what: () => _("Marks, quotation marks, brackets, width, spaces") },
]
const ALL = GROUPS.map(({ id }) => id)
const isGroup = (name) => ALL.includes(name)

// Names of groups and ids of rules, as a request has them.
function recallChosen() {
  const names = recall("rules")
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : ALL
}

export class Rules {
  constructor(onChange) {
    this.chosen = recallChosen()
    this.onChange = onChange
    this.known = [] // as the server describes them
    this.dialog = document.getElementById("rules")
    this.switches = document.getElementById("rules-groups")
    this.list = document.getElementById("rules-list")
    document.getElementById("open-rules").addEventListener("click", () => this.open())
    onLanguage(() => {
      this.known = []
      this.draw()
    })
  }

  // As a request says it. A rule that was chosen once may have left the server since.
  async asked() {
    if (!this.chosen.every(isGroup)) await this.learn()
    const names = this.chosen.filter((name) => isGroup(name) || this.known.some(({ id }) => id === name))
    return names.length > 0 && names
  }

  // The groups that are not applied, or only in part.
  get missing() {
    return GROUPS.filter(({ id }) => !this.chosen.includes(id)).map(({ id, name }) =>
      this.known.some((rule) => rule.group === id && this.isChosen(rule)) ? fill(_("{group} (in part)"), { group: name() }) : name(),
    )
  }

  async learn() {
    if (!this.known.length) this.known = (await rules()).rules
  }

  async open() {
    this.draw()
    this.dialog.showModal()
    try {
      await this.learn()
      this.draw()
    } catch (wrong) {
      this.list.replaceChildren(element("p", { class: "calm" }, wrong.message || _("The rules cannot be read from the server now.")))
    }
  }

  applyAll() {
    this.change(ALL)
  }

  change(chosen) {
    this.chosen = chosen
    remember("rules", chosen)
    this.draw()
    this.onChange()
  }

  rulesOf(group) {
    return this.known.filter((rule) => rule.group === group)
  }

  // The group by its name where it is as it comes, so that it also has the rules of a later version.
  choose(group, chosen) {
    const others = this.chosen.filter((name) => name !== group && !this.rulesOf(group).some(({ id }) => id === name))
    const isWhole = this.rulesOf(group).every(({ id, is_precise }) => chosen.includes(id) === is_precise)
    this.change([...others, ...(isWhole ? [group] : chosen)])
  }

  isChosen({ id, group, is_precise }) {
    return this.chosen.includes(id) || (is_precise && this.chosen.includes(group))
  }

  draw() {
    const state = document.getElementById("rules-state")
    state.textContent = this.chosen.length ? _("some") : _("off")
    state.hidden = ALL.every((group) => this.chosen.includes(group))
    const focused = document.activeElement?.id
    if (this.known.length) {
      this.switches.replaceChildren(...GROUPS.map((group) => this.switch(group)))
      this.list.replaceChildren(...GROUPS.map((group) => this.section(group)))
    }
    if (focused?.startsWith("rule-")) document.getElementById(focused)?.focus()
  }

  switch({ id: group, name }) {
    const precise = this.rulesOf(group).filter((rule) => rule.is_precise)
    return element(
      "label",
      { class: "switch" },
      element("input", {
        type: "checkbox",
        role: "switch",
        id: `rule-group-${group}`,
        checked: this.rulesOf(group).some((rule) => this.isChosen(rule)),
        onchange: (event) => this.choose(group, event.target.checked ? precise.map(({ id }) => id) : []),
      }),
      element("span", { class: "track" }),
      element("b", {}, name()),
    )
  }

  section({ id: group, name, what }) {
    const inGroup = this.rulesOf(group)
    const chosen = inGroup.filter((rule) => this.isChosen(rule)).map(({ id }) => id)
    return element(
      "section",
      {},
      element("h3", {}, name()),
      element("p", { class: "calm" }, what()),
      element(
        "ul",
        { class: "rules" },
        ...inGroup.map((rule) =>
          this.item(rule, (isOn) => this.choose(group, isOn ? [...chosen, rule.id] : chosen.filter((one) => one !== rule.id))),
        ),
      ),
    )
  }

  item(rule, onchange) {
    const id = `rule-${rule.id}`
    const [wrong, right] = rule.example
    return element(
      "li",
      {},
      element("input", {
        type: "checkbox",
        id,
        checked: this.isChosen(rule),
        "aria-describedby": `${id}-what`,
        onchange: (event) => onchange(event.target.checked),
      }),
      element("label", { for: id }, rule.name),
      element("p", { class: "calm", id: `${id}-what` }, rule.explanation),
      element(
        "p",
        { class: "example", lang: "zh" },
        element("span", { class: "wrong-example" }, visible(wrong)),
        ...(right === null ? [] : [" → ", element("span", { class: "right-example" }, visible(right))]),
      ),
    )
  }
}
