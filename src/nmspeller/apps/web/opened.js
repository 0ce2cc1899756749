// A file that was opened: its text stays as it is, except for the findings that are accepted.

import { Checking } from "./checking.js"
import { findingsOf } from "./draft.js"
import { _ } from "./language.js"
import { reasonOf } from "./own.js"
import { Refused, checkFile, correctedFile } from "./server.js"
import { byPlace, overlap, placeOf, split } from "./spans.js"

const PAUSE = 100

export class Opened {
  constructor(file, area, options, { onChange, onRefused }) {
    this.file = file
    this.content = null // of the file as it was opened: on the disk it may change or go
    this.area = area
    this.options = options
    this.onChange = onChange
    this.onRefused = onRefused
    this.original = ""
    this.tracksChanges = false
    this.places = [] // passages that are no running text: in tables, headers, notes
    this.edits = [] // what is proposed, with offsets in the original text
    this.accepted = new Map() // where -> { edit, target }
    this.saved = true
    this.ignored = new Set()
    this.done = [] // steps: what `accepted` and `ignored` were before each of them
    this.undone = []
    this.reached = 0
    this.isComplete = false
    this.refusal = ""
    this.timer = 0
    this.spans = []
    this.checking = new Checking(this, onChange)
    this.checking.soon(0)
  }

  get text() {
    return this.spans.map((span) => span.text).join("")
  }

  get progress() {
    return this.original ? this.reached / this.original.length : 0
  }

  get isSafe() {
    return this.saved
  }

  findings() {
    return findingsOf(this.spans, this.ignored)
  }

  enter() {
    this.area.readOnly = true
    this.area.value = this.text
  }

  leave() {
    clearTimeout(this.timer)
    this.checking.stop()
  }

  accept(chosen) {
    const next = new Map(this.accepted)
    for (const { finding, target } of chosen) next.set(placeOf(finding.edit.offset, finding.edit), { edit: finding.edit, target })
    this.step({ accepted: next })
  }

  ignore(findings) {
    this.step({ ignored: new Set([...this.ignored, ...findings.map(({ key }) => key)]) })
  }

  get choices() {
    return { accepted: this.accepted, ignored: this.ignored }
  }

  step(change) {
    this.done.push(this.choices)
    this.undone = []
    this.become({ ...this.choices, ...change })
  }

  undo() {
    if (!this.done.length) return
    this.undone.push(this.choices)
    this.become(this.done.pop())
  }

  redo() {
    if (!this.undone.length) return
    this.done.push(this.choices)
    this.become(this.undone.pop())
  }

  become({ accepted, ignored }) {
    if (accepted !== this.accepted) this.saved = !accepted.size
    this.accepted = accepted
    this.ignored = ignored
    this.show()
  }

  // What was accepted stays.
  recheck() {
    this.edits = []
    this.isComplete = false
    this.checking.restart()
  }

  question() {
    if (this.isComplete) return null
    return {
      isStale: () => false,
      ask: async (signal) => {
        this.edits = []
        this.reached = 0
        this.content ??= await contentOf(this.file)
        for await (const part of checkFile(this.content, await this.options(), signal)) {
          signal.throwIfAborted()
          this.learn(part)
        }
        this.isComplete = true
        this.lay()
      },
      refuse: (sentence) => {
        this.isComplete = true
        this.refusal = sentence
        if (!this.original) this.onRefused(sentence)
      },
    }
  }

  error() {
    return this.refusal
  }

  learn({ source, tracksChanges, places, stop, edits }) {
    if (source !== undefined) {
      this.original = source
      this.tracksChanges = tracksChanges
      this.places = places
      this.show()
    } else {
      this.edits.push(...edits)
      this.reached = stop
      // Parts may come by the hundred.
      this.timer ||= setTimeout(() => this.show(), PAUSE)
    }
  }

  show() {
    clearTimeout(this.timer)
    this.timer = 0
    this.lay()
    this.onChange()
  }

  // The spans as they are shown: what was accepted is in their text, what is open in their edits.
  lay() {
    const accepted = [...this.accepted.values()].map(({ edit, target }) => ({ ...edit, edit, target, isDone: true }))
    const open = this.edits
      .filter((edit) => !accepted.some((other) => overlap(edit, other)))
      .map((edit) => ({ ...edit, edit }))
    const all = [...accepted, ...open].sort(byPlace)
    this.spans = []
    let start = 0
    let stop = 0
    let next = 0
    for (const { length } of split(this.original)) {
      stop += length
      let last = next
      while (last < all.length && (all[last].offset < stop || stop === this.original.length)) last += 1
      // A change may reach over the end of a span, which then goes on.
      if (last > next && all[last - 1].offset + all[last - 1].length > stop) continue
      this.spans.push(this.span(start, stop, all.slice(next, last)))
      start = stop
      next = last
    }
    if (start < stop) this.spans.push(this.span(start, stop, all.slice(next)))
    if (this.area.value !== this.text) this.area.value = this.text
  }

  span(start, stop, changes) {
    let text = ""
    let end = start
    const edits = []
    for (const change of changes) {
      text += this.original.slice(end, change.offset)
      if (!change.isDone) edits.push({ ...change, offset: text.length })
      text += change.isDone ? change.target : change.source
      end = change.offset + change.length
    }
    return { text: text + this.original.slice(end, stop), edits, where: this.placeAt(start, stop) }
  }

  // Where the first passage between two offsets of the original is, if it stands apart.
  placeAt(start, stop) {
    let [low, high] = [0, this.places.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.places[middle].stop <= start) low = middle + 1
      else high = middle
    }
    return this.places[low]?.start < stop ? this.places[low] : undefined
  }

  // The file with what was accepted; as tracked changes where that is asked for, and then with what it does not have.
  async download(track) {
    const accepted = this.accepted
    const changes = [...accepted.values()].sort((one, other) => byPlace(one.edit, other.edit))
    const edits = changes.map(({ edit, target }) => ({ ...edit.inCodePoints, source: edit.source, target, ...reasonOf(edit, target) }))
    const { content, leftOut } = await correctedFile(this.content, edits, track)
    if (this.accepted === accepted && !leftOut.length) this.saved = true
    const missing = leftOut.map((index) => changes[index])
    return { content, missing: missing.map(({ edit, target }) => ({ edit, target, where: this.placeAt(edit.offset, edit.offset + 1) })) }
  }
}

async function contentOf(file) {
  try {
    return new File([await file.arrayBuffer()], file.name)
  } catch {
    throw new Refused(_("The browser cannot read it; it may be a folder."))
  }
}
