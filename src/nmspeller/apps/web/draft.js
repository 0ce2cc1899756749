// The text as it is being written: its pieces, what is known of each, and what is not known yet.

import { carryOver, split, unchanged } from "./segments.js"

const MOST_REMEMBERED = 5000

export class Draft {
  constructor() {
    this.pieces = [] // { text, edits, known }
    this.answers = new Map() // text of a piece -> edits, for the manner at hand
    this.ignored = new Set()
  }

  // Take in the text after a change; what is known of unchanged pieces stays known.
  update(text) {
    const before = this.pieces
    const after = split(text)
    const { front, back } = unchanged(before.map((piece) => piece.text), after)
    const changed = after.slice(front, after.length - back).map((text, index) => {
      const old = before[front + index]
      const carried = old && front + index < before.length - back ? carryOver(old.edits, old.text, text) : []
      return this.answers.has(text)
        ? { text, edits: this.answers.get(text), known: true }
        : { text, edits: carried, known: !/\p{Script=Han}/u.test(text) }
    })
    this.pieces = [...before.slice(0, front), ...changed, ...before.slice(before.length - back)]
  }

  // Texts of pieces that are still to be checked, at most so many characters of them (or one).
  unknown(mostCharacters) {
    const texts = new Set()
    let characters = 0
    for (const piece of this.pieces) {
      if (piece.known || texts.has(piece.text)) continue
      if (texts.size && characters + piece.text.length > mostCharacters) break
      texts.add(piece.text)
      characters += piece.text.length
    }
    return [...texts]
  }

  has(text) {
    return this.pieces.some((piece) => piece.text === text)
  }

  learn(texts, answers) {
    texts.forEach((text, index) => this.answers.set(text, answers[index]))
    for (const text of this.answers.keys()) {
      if (this.answers.size <= MOST_REMEMBERED) break
      this.answers.delete(text)
    }
    for (const piece of this.pieces)
      if (!piece.known && this.answers.has(piece.text)) {
        piece.edits = this.answers.get(piece.text)
        piece.known = true
      }
  }

  // The level or the words have changed, so nothing is known any more; what is shown stays until it is.
  forget() {
    this.answers.clear()
    for (const piece of this.pieces) piece.known = !/\p{Script=Han}/u.test(piece.text)
  }

  ignore(finding) {
    this.ignored.add(finding.id)
  }

  // All edits in order, with `start` in the whole text, less those that were ignored.
  findings() {
    const found = []
    let start = 0
    for (const piece of this.pieces) {
      for (const edit of piece.edits) {
        const id = `${piece.text}|${edit.offset}|${edit.target}`
        if (!this.ignored.has(id)) found.push({ ...edit, id, start: start + edit.offset, piece })
      }
      start += piece.text.length
    }
    return found
  }
}
