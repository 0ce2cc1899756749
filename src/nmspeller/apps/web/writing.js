// The text that is written on the page: checked as a whole after each change (the server remembers what it has read), and kept in
// this browser.

import { Checking } from "./checking.js"
import { Draft, findingsOf } from "./draft.js"
import { History } from "./history.js"
import { Kept } from "./kept.js"
import { TooLong, check } from "./server.js"

const PAUSE = 100

export class Writing {
  constructor(area, options, onChange) {
    this.area = area
    this.options = options
    const typedBefore = area.value // by someone quicker than this script
    area.value = Kept.recall() + typedBefore
    this.draft = new Draft(area.value)
    this.history = new History(area)
    this.kept = new Kept(() => this.history.text, onChange)
    this.checking = new Checking(this, onChange)
    this.most = Infinity // how many characters this server takes at once, as far as is known
    this.timer = 0
    this.onChange = onChange
    this.checking.soon(0)
    if (typedBefore) this.kept.soon()
  }

  get text() {
    return this.draft.text
  }

  get spans() {
    return this.draft.spans
  }

  get progress() {
    return this.draft.progress
  }

  // Whether leaving the page would lose something.
  get isSafe() {
    return !this.text || this.kept.isKept
  }

  findings() {
    return findingsOf(this.spans, this.history.ignored)
  }

  // The text area has changed. An input method shows letters that are not yet text; they are not worth a question.
  typed({ composing, typed }) {
    if (!composing) this.history.record({ typed })
    this.draft.update(this.area.value)
    this.onChange()
    if (composing) return
    this.checking.changed()
    this.kept.soon()
  }

  enter() {
    this.area.readOnly = false
    this.area.value = this.history.text
  }

  // One replacement for all the findings, so that one undo takes all of it back.
  accept(chosen) {
    const [first, last] = [chosen[0].finding, chosen.at(-1).finding]
    let content = ""
    let end = first.start
    for (const { finding, target } of chosen) {
      content += this.area.value.slice(end, finding.start) + target
      end = finding.start + finding.length
    }
    this.replace(first.start, last.start + last.length, content)
  }

  replace(start, stop, content) {
    this.history.replace(start, stop, content)
    this.typed({ composing: false })
  }

  undo() {
    if (this.history.undo()) this.typed({ composing: false })
  }

  redo() {
    if (this.history.redo()) this.typed({ composing: false })
  }

  ignore(findings) {
    this.history.ignore(findings.map(({ key }) => key))
    this.onChange()
  }

  recheck() {
    this.draft.forget()
    this.checking.restart()
  }

  question() {
    const { draft, text } = this
    if (draft.isKnown) return null
    const start = draft.known
    const stop = draft.end(this.most)
    const asked = text.slice(start, stop)
    return {
      isStale: () => text !== this.text,
      ask: async (signal) => {
        draft.begin()
        for await (const part of check(asked, await this.options(), signal)) {
          signal.throwIfAborted()
          const found = part.edits.map((edit) => ({ ...edit, offset: start + edit.offset }))
          draft.learn(start + part.stop, found)
          this.showSoon()
        }
        signal.throwIfAborted()
        draft.finish(stop)
      },
      // What is too long for the server may still be read in stretches of whole lines.
      refuse: (sentence, wrong) => {
        if (wrong instanceof TooLong && asked.trimEnd().includes("\n")) this.most = Math.ceil(asked.length / 2)
        else draft.finish(stop, sentence)
      },
    }
  }

  // Parts may come by the hundred.
  showSoon() {
    this.timer ||= setTimeout(() => {
      this.timer = 0
      this.draft.lay()
      this.onChange()
    }, PAUSE)
  }

  // In how many stretches the text was checked.
  get stretches() {
    return this.draft.stretches
  }

  error() {
    return this.draft.error
  }
}
