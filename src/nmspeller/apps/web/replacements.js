// Texts that the writer always wants replaced, kept in this browser and sent along with each check.

import { element } from "./element.js"
import { onLanguage } from "./language.js"
import { ListOnPage, checked, pairsFrom } from "./lists.js"
import { recall, remember } from "./memory.js"

const isPair = (one) => Array.isArray(one) && one.length === 2 && one.every((text) => typeof text === "string") && one[0]

export class Replacements {
  constructor(onChange) {
    const saved = recall("replacements")
    this.pairs = new ListOnPage("pairs", {
      items: Array.isArray(saved) ? saved.filter(isPair) : [],
      note: "pairs-note",
      fileName: "nmspeller-replacements.tsv",
      parse: pairsFrom,
      format: (pair) => pair.join("\t"),
      label: ([wrong, right]) => [element("span", { lang: "zh" }, wrong), element("span", { class: "calm" }, "→"), element("span", { lang: "zh" }, right || "∅")],
      // Of two with the same wrong text the last counts, as in a file.
      merge: (old, added) => [...new Map([...old, ...added])],
      onChange: (pairs) => {
        remember("replacements", pairs)
        onChange()
      },
    })
    this.wrong = document.getElementById("wrong-text")
    this.right = document.getElementById("right-text")
    document.getElementById("add-pair").addEventListener("click", () => this.add())
    for (const field of [this.wrong, this.right])
      field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.isComposing) return
        event.preventDefault()
        if (field === this.wrong && !this.right.value) this.right.focus()
        else this.add()
      })
    // “Done” means a pair in the fields, too, as it does a word.
    this.wrong.form.addEventListener("submit", (event) => {
      if (!this.right.value) return
      this.add()
      if (this.wrong.value) event.preventDefault()
    })
    onLanguage(() => this.pairs.draw())
  }

  // As a request says it.
  get asked() {
    return Object.fromEntries(this.pairs.items)
  }

  add() {
    this.pairs.attempt(() => {
      const wrong = checked(this.wrong.value)
      if (!wrong) return
      this.pairs.add([[wrong, this.right.value.replace(/ +$/, "")]])
      this.wrong.value = this.right.value = ""
    })
    this.wrong.focus()
  }
}
