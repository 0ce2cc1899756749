// The text that is written on the page: checked piece by piece as it changes, and kept in this browser.

import { Checking } from "./checking.js"
import { Draft, findingsOf } from "./draft.js"
import { History } from "./history.js"
import { Kept } from "./kept.js"
import { check } from "./server.js"

const CHARACTERS_AT_ONCE = 1500

export class Writing {
  constructor(area, options, onChange) {
    this.area = area
    this.options = options
    const typedBefore = area.value // by someone quicker than this script
    area.value = Kept.recall() + typedBefore
    this.draft = new Draft()
    this.draft.update(area.value)
    this.history = new History(area)
    this.kept = new Kept(() => this.history.text, onChange)
    this.checking = new Checking(this, onChange)
    this.ignored = new Set()
    this.oneByOne = false
    this.onChange = onChange
    this.checking.soon(0)
    if (typedBefore) this.kept.soon()
  }

  get text() {
    return this.draft.text
  }

  get pieces() {
    return this.draft.pieces
  }

  get progress() {
    return this.draft.progress
  }

  // Whether leaving the page would lose something.
  get isSafe() {
    return !this.text || this.kept.isKept
  }

  findings() {
    return findingsOf(this.pieces, this.ignored)
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
    for (const { key } of findings) this.ignored.add(key)
    this.onChange()
  }

  recheck() {
    this.draft.forget()
    if (!this.options().rules) this.draft.learnMatches(this.text, [])
    this.checking.restart()
  }

  question() {
    const texts = this.draft.unknown(this.oneByOne ? 0 : CHARACTERS_AT_ONCE)
    if (texts.length) return this.questionToTheModel(texts)
    this.oneByOne = false
    return this.options().rules && this.draft.isUnruled ? this.questionToTheRules(this.text) : null
  }

  questionToTheModel(texts) {
    return {
      isStale: () => texts.some((text) => !this.draft.has(text)),
      ask: async (signal) => {
        const answers = await check(texts, { ...this.options(), rules: false }, signal)
        signal.throwIfAborted()
        this.draft.learn(texts, answers)
      },
      // Together they may only have been too long, or one of them the fault of all; alone, asking again would not help.
      refuse: (sentence) => {
        if (texts.length > 1) this.oneByOne = true
        else this.draft.refuse(texts[0], sentence)
      },
    }
  }

  questionToTheRules(text) {
    return {
      isStale: () => text !== this.text,
      ask: async (signal) => {
        const [found] = await check([text], { ...this.options(), model: false }, signal)
        signal.throwIfAborted()
        this.draft.learnMatches(text, found)
      },
      refuse: (sentence) => this.draft.learnMatches(text, [], sentence),
    }
  }

  error() {
    return this.draft.error()
  }
}
