// The writer's own words, kept in this browser and sent along with each check.

import { element } from "./element.js"
import { _, fill, onLanguage } from "./language.js"
import { recall, remember } from "./memory.js"

const MOST_WORDS = 2000

export class Words {
  constructor(onChange) {
    const saved = recall("words")
    this.list = Array.isArray(saved) ? saved.filter((word) => typeof word === "string" && word) : []
    this.onChange = onChange
    this.dialog = document.getElementById("words")
    this.input = document.getElementById("word")
    document.getElementById("open-words").addEventListener("click", () => this.open(""))
    document.getElementById("add-word").addEventListener("click", () => this.add())
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return
      event.preventDefault()
      this.add()
    })
    onLanguage(() => this.draw())
  }

  open(proposal) {
    this.dialog.showModal()
    this.input.value = proposal
    this.input.focus()
    this.input.select()
  }

  add() {
    const words = this.input.value.split(/[\s,，、]+/).filter((word) => word && !this.list.includes(word))
    this.input.value = ""
    this.input.focus()
    if (words.length) this.change([...this.list, ...words].slice(0, MOST_WORDS))
  }

  change(list) {
    this.list = list
    remember("words", list)
    this.draw()
    this.onChange()
  }

  draw() {
    const count = document.getElementById("words-count")
    count.textContent = this.list.length
    count.hidden = !this.list.length
    document.getElementById("chips").replaceChildren(
      ...this.list.map((word) =>
        element(
          "li",
          {},
          word,
          element(
            "button",
            {
              type: "button",
              "aria-label": fill(_("Remove “{word}”"), { word }),
              onclick: () => this.change(this.list.filter((other) => other !== word)),
            },
            "×",
          ),
        ),
      ),
    )
  }
}
