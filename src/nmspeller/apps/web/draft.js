// The text as it is being written, and what the server has found in it: rules and model, in one answer.

import { carryOver, placeOf, split } from "./spans.js"

const CONTEXT = 6

export class Draft {
  constructor(text) {
    this.text = ""
    this.earlier = [] // what was found before; it stays until the present answer has come that far
    this.spans = []
    this.forget()
    this.update(text)
  }

  get found() {
    const isDone = this.reached === this.text.length
    return isDone ? this.fresh : [...this.fresh, ...this.earlier.filter(({ offset }) => offset >= this.reached)]
  }

  // How much of the text is known, from 0 to 1.
  get progress() {
    return this.reached / Math.max(1, this.text.length)
  }

  get isKnown() {
    return this.known === this.text.length
  }

  // Take in the text after a change.
  update(text) {
    if (text === this.text) return
    const moved = carryOver(this.found, this.text, text)
    this.text = text
    this.forget()
    this.earlier = moved
    if (!hasChinese(text)) this.finish(text.length)
    this.lay()
  }

  // The text, the level, the words or the rules have changed, so nothing is known any more; what is shown stays until it is.
  forget() {
    this.earlier = this.fresh ? this.found : []
    this.fresh = [] // what was found up to `reached`
    this.known = this.reached = 0 // up to where all answers are complete, and up to where the present one has come
    this.stretches = 0
    this.error = ""
  }

  // Where the next stretch to ask for ends: after lines of at most so many characters together, or after one line.
  end(mostCharacters) {
    if (this.text.length - this.known <= mostCharacters) return this.text.length
    const last = this.text.lastIndexOf("\n", this.known + mostCharacters - 1)
    const line = last < this.known ? this.text.indexOf("\n", this.known) : last
    return line < 0 ? this.text.length : line + 1
  }

  begin() {
    this.earlier = this.found
    this.fresh = this.fresh.filter(({ offset }) => offset < this.known)
    this.reached = this.known
  }

  // The server has come as far as `stop`.
  learn(stop, found) {
    this.fresh.push(...found)
    this.reached = stop
  }

  // The stretch up to `stop` is known; or the server would not look at it, which is not to be taken for a text without errors.
  finish(stop, error = "") {
    this.known = this.reached = stop
    this.stretches += 1
    this.error ||= error
    this.lay()
  }

  // The spans as the editor draws them.
  lay() {
    this.spans = spansOf(this.text, this.found)
  }
}

function hasChinese(text) {
  return /\p{Script=Han}/u.test(text)
}

// The spans of a text, each with what was found in it, counted from its start.
function spansOf(text, found) {
  const spans = []
  let start = 0
  let stop = 0
  let next = 0
  for (const { length } of split(text)) {
    stop += length
    let last = next
    while (last < found.length && (found[last].offset < stop || stop === text.length)) last += 1
    // What was found may reach over the end of a span, which then goes on.
    if (last > next && found[last - 1].offset + found[last - 1].length > stop) continue
    const edits = found.slice(next, last).map((one) => ({ ...one, offset: one.offset - start }))
    spans.push({ text: text.slice(start, stop), edits })
    start = stop
    next = last
  }
  return spans
}

// All findings in the spans in order, with `start` in the whole text, less those that were ignored.
export function findingsOf(spans, ignored) {
  const found = []
  const text = spans.map((span) => span.text).join("")
  let spanStart = 0
  for (const span of spans) {
    for (const edit of span.edits) {
      const start = spanStart + edit.offset
      const key = keyOf(edit, text, start)
      if (!ignored.has(key)) found.push({ ...edit, key, start, place: placeOf(start, edit), span })
    }
    spanStart += span.text.length
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
