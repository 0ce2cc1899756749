// The text as it is being written: its pieces, what is known of each, and what is not known yet. The model reads the pieces,
// and the rules the whole text: a quotation may begin in one piece and end in another.

import { isHint } from "./kinds.js"
import { byPlace, carryOver, overlap, placeOf, split, unchanged } from "./segments.js"

const MOST_REMEMBERED = 5000
const CONTEXT = 6

export class Draft {
  constructor() {
    this.pieces = [] // { text, edits, matches, known, error }; matches: what the rules found there
    this.answers = new Map() // text of a piece -> edits, for the options at hand
    this.ruled = "" // the text that the rules have read
    this.rulesError = undefined
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
      const carry = (found) => (old && front + index < before.length - back ? carryOver(found, old.text, text) : [])
      const matches = carry(old?.matches)
      return this.answers.has(text)
        ? { text, edits: this.answers.get(text), matches, known: true }
        : { text, edits: carry(old?.edits), matches, known: !hasChinese(text) }
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

  // What the rules found in the whole text.
  learnMatches(text, found, error) {
    this.ruled = text
    this.rulesError = error
    let start = 0
    for (const piece of this.pieces) {
      const stop = start + piece.text.length
      const isIn = ({ offset, length }) => offset >= start && offset + length <= stop && (offset < stop || stop === text.length)
      piece.matches = found.filter(isIn).map((match) => ({ ...match, offset: match.offset - start }))
      start = stop
    }
  }

  // Whether the rules are still to read the text.
  get isUnruled() {
    return this.ruled !== this.text
  }

  // The server would not look at this text; that is not to be taken for a text without errors.
  refuse(text, sentence) {
    for (const piece of this.pieces) if (piece.text === text) Object.assign(piece, { edits: [], error: sentence })
  }

  // What the server said of the first piece that it refused, or of the whole.
  error() {
    return this.pieces.find((piece) => piece.error)?.error ?? this.rulesError
  }

  // The level, the words or the rules have changed, so nothing is known any more; what is shown stays until it is.
  forget() {
    this.answers.clear()
    this.ruled = ""
    for (const piece of this.pieces) {
      piece.known = !hasChinese(piece.text)
      piece.error = undefined
    }
  }
}

function hasChinese(text) {
  return /\p{Script=Han}/u.test(text)
}

// What the rules and the model found in a piece, in order. As in the server, a rule's fix goes before an edit of the model, and
// an edit before a hint.
function inOrder({ edits, matches = [] }) {
  const clearOf = (others, found) => found.filter((one) => !others.some((other) => overlap(one, other)))
  const fixes = matches.filter((match) => !isHint(match))
  const changes = [...fixes, ...clearOf(fixes, edits)]
  return [...changes, ...clearOf(changes, matches.filter(isHint))].sort(byPlace)
}

// All findings in the pieces in order, with `start` in the whole text, less those that were ignored.
export function findingsOf(pieces, ignored) {
  const found = []
  const text = pieces.map((piece) => piece.text).join("")
  let pieceStart = 0
  for (const piece of pieces) {
    for (const edit of inOrder(piece)) {
      const start = pieceStart + edit.offset
      const key = keyOf(edit, text, start)
      if (!ignored.has(key)) found.push({ ...edit, key, start, place: placeOf(start, edit), piece })
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
