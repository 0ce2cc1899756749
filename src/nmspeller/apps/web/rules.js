// The rules beside the model: a switch for all of them, and one for each.

import { element } from "./element.js"
import { _, onLanguage } from "./language.js"
import { recall, remember } from "./memory.js"
import { rules } from "./server.js"

export class Rules {
  constructor(onChange) {
    const saved = recall("rules")
    this.isOn = saved?.isOn === true
    this.chosen = Array.isArray(saved?.chosen) ? saved.chosen.filter((id) => typeof id === "string") : undefined
    this.onChange = onChange
    this.known = [] // as the server describes them
    this.dialog = document.getElementById("rules")
    this.switch = document.getElementById("rules-on")
    this.list = document.getElementById("rules-list")
    document.getElementById("open-rules").addEventListener("click", () => this.open())
    this.switch.addEventListener("change", () => this.change({ isOn: this.switch.checked }))
    onLanguage(() => {
      this.known = []
      this.draw()
    })
  }

  // As a request says it.
  get asked() {
    return this.isOn && (this.chosen ? this.chosen.length > 0 && this.chosen : true)
  }

  async open() {
    this.draw()
    this.dialog.showModal()
    if (this.known.length) return
    try {
      this.known = (await rules()).rules
      this.draw()
    } catch (wrong) {
      this.list.replaceChildren(element("li", { class: "calm" }, wrong.message || _("The rules cannot be read from the server now.")))
    }
  }

  change(changed) {
    Object.assign(this, changed)
    remember("rules", { isOn: this.isOn, chosen: this.chosen })
    this.draw()
    this.onChange()
  }

  choose(id, isChosen) {
    const chosen = this.known.filter((rule) => (rule.id === id ? isChosen : this.isChosen(rule))).map((rule) => rule.id)
    this.change({ chosen, isOn: chosen.length > 0 })
  }

  isChosen({ id, is_precise }) {
    return this.chosen?.includes(id) ?? is_precise
  }

  draw() {
    const state = document.getElementById("rules-state")
    state.textContent = this.isOn ? _("on") : ""
    state.hidden = !this.isOn
    this.switch.checked = this.isOn
    const focused = document.activeElement?.id
    this.list.replaceChildren(
      ...this.known.map((rule) => {
        const id = `rule-${rule.id}`
        const box = element("input", {
          type: "checkbox",
          id,
          checked: this.isOn && this.isChosen(rule),
          "aria-describedby": `${id}-what`,
          onchange: (event) => this.choose(rule.id, event.target.checked),
        })
        return element(
          "li",
          {},
          box,
          element("label", { for: id }, rule.name),
          element("p", { class: "calm", id: `${id}-what` }, rule.explanation),
        )
      }),
    )
    if (focused?.startsWith("rule-")) document.getElementById(focused)?.focus()
  }
}
