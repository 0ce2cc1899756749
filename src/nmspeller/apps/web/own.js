// A replacement that the writer types where none of the proposed ones is right; also for what a rule only doubts.

import { element } from "./element.js"
import { _ } from "./language.js"

const typed = new Map() // key of a finding -> what is being typed for it, while its card is drawn anew

export function ownReplacement(finding, accept) {
  const { key, source } = finding
  const take = () => {
    const { value } = field
    if (!value || value === source) return field.focus()
    typed.delete(key)
    accept([finding], value)
  }
  const field = element("input", {
    lang: "zh",
    maxlength: 200,
    autocomplete: "off",
    placeholder: _("Another replacement"),
    "aria-label": _("Another replacement"),
    oninput: () => typed.set(key, field.value),
    onkeydown: (event) => {
      if (event.key === "Enter" && !event.isComposing) {
        event.preventDefault()
        take()
      }
      // Arrows move in the field, not among the buttons; Escape closes the card as everywhere.
      if (event.key.startsWith("Arrow") && !event.altKey) event.stopPropagation()
    },
  })
  field.value = typed.get(key) ?? ""
  return element("div", { class: "own" }, field, element("button", { class: "plain small", type: "button", onclick: take }, _("Replace")))
}

// An edit as it is sent: what the writer has typed is neither the model's nor a rule's.
export function reasonOf({ target, alternatives, reason, rule }, accepted) {
  return accepted === target || alternatives.includes(accepted) ? { reason, rule } : { reason: "context", rule: null }
}
