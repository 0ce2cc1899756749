// Asks the server what is not known yet, one question after the other, and goes on by itself when the server was away.
// A subject has `question()`, which is null when all is known, and `error()`, what the server said of a part it refused.

import { Busy, NeedsKey, Offline, Refused, WrongKey } from "./server.js"

const PAUSE = 350
const LONGEST_WAIT = 15000

export class Checking {
  constructor(subject, onChange) {
    this.subject = subject
    this.onChange = onChange
    this.state = "ready"
    this.sentence = "" // the server's own, where it refused
    this.flight = null // { question, controller }
    this.timer = 0
    this.failures = 0
    addEventListener("online", () => {
      if (this.state === "offline") this.soon(0)
    })
  }

  // The text has changed: drop what is out of date, and ask when the writer pauses.
  changed() {
    if (this.flight?.question.isStale()) this.stop()
    if ((this.state === "done" || this.state === "ready") && this.subject.question()) this.tell("checking")
    this.soon(PAUSE)
  }

  restart() {
    this.stop()
    this.soon(0)
  }

  stop() {
    clearTimeout(this.timer)
    this.flight?.controller.abort()
    this.flight = null
  }

  soon(milliseconds) {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.next(), milliseconds)
  }

  async next() {
    if (this.flight) return
    const question = this.subject.question()
    if (!question) return this.finished()
    const flight = { question, controller: new AbortController() }
    this.flight = flight
    if (!this.failures) this.tell("checking")
    try {
      await question.ask(flight.controller.signal)
      if (this.flight !== flight) return
      this.flight = null
      this.failures = 0
      this.onChange()
      this.soon(0)
    } catch (wrong) {
      if (this.flight !== flight) return
      this.flight = null
      this.failed(wrong, question)
    }
  }

  finished() {
    const sentence = this.subject.error()
    if (sentence) this.tell("refused", sentence)
    else this.tell("done")
  }

  failed(wrong, question) {
    if (wrong instanceof Refused) {
      this.failures = 0
      question.refuse(wrong.message, wrong)
      this.onChange()
      return this.soon(0)
    }
    this.failures += 1
    if (wrong instanceof Busy) {
      this.tell("busy")
      this.soon(1000 * wrong.seconds)
    } else if (wrong instanceof WrongKey) {
      this.tell("wrongKey")
    } else if (wrong instanceof NeedsKey) {
      this.tell("needsKey")
    } else {
      if (!(wrong instanceof Offline)) console.error(wrong)
      this.tell("offline")
      this.soon(Math.min(LONGEST_WAIT, 500 * 2 ** this.failures))
    }
  }

  tell(state, sentence = "") {
    this.state = state
    this.sentence = sentence
    this.onChange()
  }
}
