// The text as it is being written: its pieces, what is known of each, and what is not known yet.

import { carryOver, split, unchanged } from "./segments.js"

const MOST_REMEMBERED = 5000
const CONTEXT = 6

export class Draft {
  constructor() {
    this.pieces = [] // { text, edits, known, error }
    this.answers = new Map() // text of a piece -> edits, for the options at hand
  }

  get text() {
    return this.pieces.map((piece) => piece.text).join("")
  }

  // How much of the text is known, from 0 to 1.
  get progress() {
    const length = (pieces) => pieces.reduce((sum, piece) => sum + piece.text.length, 0)
    return length(this.pieces.filter((piece) => piece.known || piece.error)) / Math.max(1, length(this.pieces))
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
      if (piece.known || piece.error || texts.has(piece.text)) continue
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

  // The server would not look at this text; that is not to be taken for a text without errors.
  refuse(text, sentence) {
    for (const piece of this.pieces) if (piece.text === text) Object.assign(piece, { edits: [], error: sentence })
  }

  // What the server said of the first piece that it refused.
  error() {
    return this.pieces.find((piece) => piece.error)?.error
  }

  // The level or the words have changed, so nothing is known any more; what is shown stays until it is.
  forget() {
    this.answers.clear()
    for (const piece of this.pieces) {
      piece.known = !/\p{Script=Han}/u.test(piece.text)
      piece.error = undefined
    }
  }
}

// All edits of the pieces in order, with `start` in the whole text, less those that were ignored.
export function findingsOf(pieces, ignored) {
  const found = []
  const text = pieces.map((piece) => piece.text).join("")
  let pieceStart = 0
  for (const piece of pieces) {
    for (const edit of piece.edits) {
      const start = pieceStart + edit.offset
      const key = keyOf(edit, text, start)
      if (!ignored.has(key)) found.push({ ...edit, key, start, piece })
    }
    pieceStart += piece.text.length
  }
  return found
}

// What makes it the same finding when the text has changed elsewhere.
function keyOf({ source, target, length }, text, start) {
  const stop = start + length
  const before = text.slice(Math.max(0, start - CONTEXT), start).split("\n").at(-1)
  const after = text.slice(stop, stop + CONTEXT).split("\n")[0]
  return [source, target, before, after].join("|")
}
