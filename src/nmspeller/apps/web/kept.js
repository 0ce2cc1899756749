// The text outlives a reload, in this browser only.

import { forget, onOtherTab, recall, remember } from "./memory.js"

const PAUSE = 300

export class Kept {
  constructor(text, onChange) {
    this.text = text // a function
    this.onChange = onChange
    this.isKept = true
    this.timer = 0
    // There is room for one text: what another tab keeps takes the place of this one.
    onOtherTab("text", () => this.tell(!this.text()))
    addEventListener("pagehide", () => this.now())
    document.addEventListener("visibilitychange", () => this.now())
  }

  static recall() {
    const text = recall("text")
    return typeof text === "string" ? text : ""
  }

  soon() {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.now(), PAUSE)
  }

  now() {
    if (!this.timer) return
    clearTimeout(this.timer)
    this.timer = 0
    const text = this.text()
    if (!text) forget("text")
    this.tell(!text || remember("text", text))
  }

  tell(isKept) {
    this.isKept = isKept
    this.onChange()
  }
}
