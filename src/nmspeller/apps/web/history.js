// Undo and redo of the page's own. A browser forgets its undo when a script changes the text, and its way for scripts to
// type (execCommand) takes seconds for a long text; so every change, typed or made by a click, is kept here, and what was ignored.

import { unchanged } from "./spans.js"

const ONE_STROKE = 800 // keystrokes that follow one another within so many milliseconds are one step
const LONGEST_STROKE = 10 // characters; what arrives at once and is longer was pasted or dictated
const MOST_STEPS = 500

export class History {
  constructor(area) {
    this.area = area
    this.text = area.value
    this.ignored = new Set()
    this.done = [] // { start, removed, inserted, time }, or { keys } of findings that were ignored
    this.undone = []
  }

  // Take note of what has become of the text. Typing that goes on where it left off is one step.
  record({ typed }) {
    const [before, after] = [this.text, this.area.value]
    if (before === after) return
    const { front, back } = unchanged(before, after)
    const inserted = after.slice(front, after.length - back)
    const step = {
      start: front,
      removed: before.slice(front, before.length - back),
      inserted,
      time: typed && inserted.length <= LONGEST_STROKE ? performance.now() : -Infinity,
    }
    this.text = after
    this.undone = []
    const last = this.done.at(-1)
    const goesOn = last?.time && step.time - last.time < ONE_STROKE && last.start + last.inserted.length === step.start
    if (goesOn && !step.removed) {
      last.inserted += step.inserted
      last.time = step.time
    } else {
      this.add(step)
    }
  }

  ignore(keys) {
    for (const key of keys) this.ignored.add(key)
    this.undone = []
    this.add({ keys })
  }

  add(step) {
    this.done.push(step)
    if (this.done.length > MOST_STEPS) this.done.shift()
  }

  // Change the text in one step.
  replace(start, stop, content) {
    this.area.setRangeText(content, start, stop, "end")
    this.record({ typed: false })
  }

  undo() {
    const step = this.done.pop()
    if (!step) return false
    this.undone.push(step)
    if (step.keys) for (const key of step.keys) this.ignored.delete(key)
    else this.swap(step.start, step.inserted, step.removed)
    return true
  }

  redo() {
    const step = this.undone.pop()
    if (!step) return false
    this.done.push(step)
    if (step.keys) for (const key of step.keys) this.ignored.add(key)
    else this.swap(step.start, step.removed, step.inserted)
    return true
  }

  swap(start, from, to) {
    this.area.setRangeText(to, start, start + from.length, "end")
    this.text = this.area.value
  }
}
