// Sends what is not known yet, a little at a time, and goes on by itself when the server was away.

import { Busy, NeedsKey, Offline, Refused, check } from "./server.js"

const PAUSE = 350
const CHARACTERS_AT_ONCE = 1500
const LONGEST_WAIT = 15000

export class Checking {
  constructor(draft, options, { onAnswer, onState }) {
    this.draft = draft
    this.options = options
    this.onAnswer = onAnswer
    this.onState = onState
    this.flight = null // { texts, controller }
    this.timer = 0
    this.failures = 0
    this.oneByOne = false
    addEventListener("online", () => this.soon(0))
  }

  // The text has changed: drop what is out of date, and ask when the writer pauses.
  changed() {
    if (this.flight && this.flight.texts.some((text) => !this.draft.has(text))) this.drop()
    this.soon(PAUSE)
  }

  // The level or the words have changed.
  restart() {
    this.drop()
    this.soon(0)
  }

  drop() {
    this.flight?.controller.abort()
    this.flight = null
  }

  soon(milliseconds) {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.next(), milliseconds)
  }

  async next() {
    if (this.flight) return
    const texts = this.draft.unknown(this.oneByOne ? 0 : CHARACTERS_AT_ONCE)
    if (!texts.length) return this.finished()
    const flight = { texts, controller: new AbortController() }
    this.flight = flight
    if (!this.failures) this.onState("checking")
    try {
      const answers = await check(texts, this.options(), flight.controller.signal)
      if (this.flight !== flight) return
      this.flight = null
      this.failures = 0
      this.draft.learn(texts, answers)
      this.onAnswer()
      this.soon(0)
    } catch (wrong) {
      if (this.flight === flight) this.flight = null
      else return
      this.failed(wrong, texts)
    }
  }

  finished() {
    this.oneByOne = false
    const sentence = this.draft.error()
    if (sentence) this.onState("refused", { sentence })
    else this.onState("done")
  }

  failed(wrong, texts) {
    if (wrong.name === "AbortError") return
    if (wrong instanceof Refused) return this.refused(texts, wrong.message)
    this.failures += 1
    if (wrong instanceof Busy) {
      this.onState("busy")
      this.soon(1000 * wrong.seconds)
    } else if (wrong instanceof NeedsKey) {
      this.onState("needsKey")
    } else {
      if (!(wrong instanceof Offline)) console.error(wrong)
      this.onState("offline")
      this.soon(Math.min(LONGEST_WAIT, 500 * 2 ** this.failures))
    }
  }

  // Together they may only have been too long, or one of them the fault of all; alone, asking again would not help.
  refused(texts, sentence) {
    this.failures = 0
    if (texts.length > 1) {
      this.oneByOne = true
    } else {
      this.draft.refuse(texts[0], sentence)
      this.onAnswer()
    }
    this.soon(0)
  }
}
