// The writer's own words, kept in this browser and sent along with each check.

import { element } from "./element.js"
import { onLanguage } from "./language.js"
import { ListOnPage, checked, wordsFrom } from "./lists.js"
import { recall, remember } from "./memory.js"

export class Words {
  constructor(onChange) {
    const saved = recall("words")
    this.words = new ListOnPage("chips", {
      items: Array.isArray(saved) ? saved.filter((word) => typeof word === "string" && word) : [],
      count: "words-count",
      note: "words-note",
      fileName: "nmspeller-words.txt",
      parse: wordsFrom,
      format: (word) => word,
      label: (word) => [word],
      merge: (old, added) => [...new Set([...old, ...added])],
      onChange: (words) => {
        remember("words", words)
        onChange()
      },
    })
    this.dialog = document.getElementById("words")
    this.input = document.getElementById("word")
    this.guesses = document.getElementById("guesses")
    document.getElementById("add-word").addEventListener("click", () => this.add())
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return
      event.preventDefault()
      this.add()
    })
    // Who leaves with “Done” means the word in the field, too; one that cannot be taken keeps the dialog open.
    this.dialog.querySelector("form").addEventListener("submit", (event) => {
      this.add()
      if (this.input.value) event.preventDefault()
    })
    onLanguage(() => this.words.draw())
  }

  get list() {
    return this.words.items
  }

  // `guessing`: what the word may be, the likeliest first, when it is known. It is put into the field if it is `meant`.
  async open(guessing = [], isMeant = false) {
    this.dialog.showModal()
    this.words.say("")
    this.input.value = ""
    this.guesses.replaceChildren()
    this.input.focus()
    const guesses = (await guessing).filter((word) => !this.list.includes(word))
    this.guesses.replaceChildren(...guesses.map((word) => element("button", { type: "button", class: "plain small", lang: "zh", onclick: () => this.take(word) }, word)))
    if (isMeant && guesses.length && !this.input.value) this.take(guesses[0])
  }

  take(word) {
    this.input.value = word
    this.input.focus()
    this.input.select()
  }

  add() {
    this.words.attempt(() => {
      const words = this.input.value.split(/[\s,，、]+/).filter(Boolean).map(checked)
      if (words.length) this.words.add(words)
      this.input.value = ""
      this.guesses.replaceChildren()
    })
    this.input.focus()
  }
}
