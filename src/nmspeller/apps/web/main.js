// The page put together.

import { Popover, drawCards } from "./cards.js"
import { Checking } from "./checking.js"
import { Draft } from "./draft.js"
import { Editor } from "./editor.js"
import { onLanguage, switchLanguage, t, translate } from "./language.js"
import { History } from "./history.js"
import { recallOneOf, remember } from "./memory.js"
import { giveKey } from "./server.js"
import { Words } from "./words.js"

const EXAMPLE = `今天天汽真好，我和朋友一起去公园玩，大家都很高心。
他己经工作三年了，每天都很认真的完成任务，老板对他的表现非长满意。
我门在家乡的小河边长大，那里的平果又大又甜。`

const at = (id) => document.getElementById(id)
const area = at("text")
const draft = new Draft()
const editor = new Editor({ area, underlay: at("underlay") })
const history = new History(area)
const words = new Words(() => again())
const levels = [...document.getElementsByName("level")]
let level = recallOneOf("level", levels.map(({ value }) => value)) ?? "balanced"
let findings = []
let state = ["ready"]
let composing = false

const checking = new Checking(draft, () => ({ level, words: words.list }), {
  onAnswer: () => show(),
  onState: (...now) => {
    state = now
    showState()
  },
})

const popover = new Popover(at("popover"), {
  accept,
  ignore,
  protect,
  onClose: (back) => {
    editor.active = null
    editor.draw(draft.pieces, findings)
    if (back) area.focus({ preventScroll: true })
  },
})

function changed() {
  draft.update(area.value)
  show()
  // An input method shows letters that are not yet text; they are not worth a question.
  if (!composing) checking.changed()
}

function again() {
  draft.forget()
  checking.restart()
}

function show() {
  findings = draft.findings()
  editor.draw(draft.pieces, findings)
  drawCards(at("cards"), findings, { choose: (finding) => choose(finding, true), accept, ignore })
  at("findings-count").textContent = findings.length
  at("accept-all").disabled = !findings.length
  at("accept-all").textContent = findings.length ? t("acceptCount", { count: findings.length }) : t("acceptAll")
  at("length").textContent = t("length", { count: [...area.value.replace(/\s/g, "")].length.toLocaleString() })
  showState()
}

function showState() {
  const [name, values] = state
  const idle = name === "done" || name === "ready"
  const empty = !area.value.trim()
  at("state").dataset.state = idle ? "done" : name
  const sentence = !idle
    ? t(name, values)
    : empty
      ? t("ready")
      : findings.length
        ? t("found", { count: findings.length })
        : t("checked")
  if (at("state-text").textContent !== sentence) at("state-text").textContent = sentence
  at("give-key").hidden = name !== "needsKey"
  at("empty").hidden = findings.length > 0
  at("empty-text").textContent = empty || !idle ? t("emptyStart") : t("emptyClean")
  at("example").hidden = !empty
}

function choose(finding, focus) {
  editor.active = finding.start
  editor.draw(draft.pieces, findings)
  const box = at("scroll")
  let rectangle = editor.rectangle(finding)
  if (!rectangle) return
  const frame = box.getBoundingClientRect()
  if (rectangle.top < frame.top + 20 || rectangle.bottom > frame.bottom - 20) {
    box.scrollTop += rectangle.top - frame.top - frame.height / 3
    rectangle = editor.rectangle(finding)
  }
  if (frame.top < 0 || frame.bottom > innerHeight + frame.height / 2) {
    box.scrollIntoView({ block: "nearest" })
    rectangle = editor.rectangle(finding)
  }
  // Only the caret moves, and not away from where a click has put it: what is selected, the next keystroke would replace.
  const end = finding.start + finding.length
  if (focus) area.setSelectionRange(end, end)
  popover.show(finding, rectangle, { focus })
}

function replace(start, stop, content) {
  history.replace(start, stop, content)
  area.focus({ preventScroll: true })
  changed()
}

function takeBack(way) {
  popover.close(false)
  area.focus({ preventScroll: true })
  if (history[way]()) changed()
}

function accept(finding, target) {
  popover.close(false)
  replace(finding.start, finding.start + finding.length, target)
}

function acceptAll() {
  if (!findings.length) return
  popover.close(false)
  const [first, last] = [findings[0], findings.at(-1)]
  let content = ""
  let end = first.start
  for (const { start, length, target } of findings) {
    content += area.value.slice(end, start) + target
    end = start + length
  }
  // One replacement, so that one undo takes all of it back.
  replace(first.start, last.start + last.length, content)
}

function ignore(finding) {
  const cards = at("cards")
  const place = [...cards.children].findIndex((card) => card.contains(document.activeElement))
  draft.ignore(finding)
  popover.close(true)
  show()
  // The card that had the focus is gone; a keyboard goes on with the one in its place.
  if (place >= 0) (cards.children[place]?.querySelector("button") ?? area).focus({ preventScroll: true })
}

function protect(finding) {
  popover.close(false)
  // One character is hardly a word: propose it with its neighbours, for the writer to trim.
  const { text } = finding.piece
  const around = text.slice(Math.max(0, finding.offset - 1), finding.offset + finding.length + 1)
  words.open(around.replace(/[^\p{Script=Han}\p{L}\p{N}]/gu, ""))
}

function step(direction) {
  if (!findings.length) return
  // On from the finding at hand, or else from the caret.
  const here = editor.active ?? area.selectionStart
  const next =
    direction > 0
      ? (findings.find(({ start }) => start >= here && start !== editor.active) ?? findings[0])
      : (findings.findLast(({ start }) => start < here) ?? findings.at(-1))
  choose(next, true)
}

area.addEventListener("compositionstart", () => (composing = true))
area.addEventListener("compositionend", () => {
  composing = false
  history.record({ typed: true })
  changed()
})
area.addEventListener("input", (event) => {
  popover.close(false)
  if (!composing) history.record({ typed: event.inputType === "insertText" })
  changed()
})
area.addEventListener("beforeinput", (event) => {
  const way = { historyUndo: "undo", historyRedo: "redo" }[event.inputType]
  if (!way) return
  event.preventDefault()
  takeBack(way)
})
area.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || composing) return
  const key = event.key.toLowerCase()
  const way = key === "y" || (key === "z" && event.shiftKey) ? "redo" : key === "z" ? "undo" : null
  if (!way) return
  event.preventDefault()
  takeBack(way)
})
area.addEventListener("click", () => {
  if (area.selectionStart !== area.selectionEnd) return
  const here = area.selectionStart
  const hit = findings.find(({ start, length }) => here >= start && here <= start + length)
  if (hit) choose(hit, false)
})
document.addEventListener("keydown", (event) => {
  if (at("write").hidden || composing) return
  if (event.altKey && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault()
    step(event.key === "ArrowDown" ? 1 : -1)
  } else if (event.key === "Escape" && popover.open) {
    popover.close(true)
  }
})
at("scroll").addEventListener("scroll", () => popover.close(false), { passive: true })
addEventListener("resize", () => popover.close(false))

at("accept-all").addEventListener("click", acceptAll)
at("undo").addEventListener("click", () => takeBack("undo"))
at("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(area.value)
  } catch {
    // Without permission, or over plain HTTP, the old way still works.
    const { selectionStart, selectionEnd } = area
    area.select()
    document.execCommand("copy")
    area.setSelectionRange(selectionStart, selectionEnd)
  }
  at("copy").textContent = t("copied")
  setTimeout(() => (at("copy").textContent = t("copy")), 1500)
})
at("example").addEventListener("click", () => replace(0, area.value.length, EXAMPLE))
at("level").addEventListener("change", (event) => {
  level = event.target.value
  remember("level", level)
  again()
})

const keyDialog = at("key")
const askForKey = () => keyDialog.showModal()
at("give-key").addEventListener("click", askForKey)
at("key-cancel").addEventListener("click", () => keyDialog.close(""))
keyDialog.addEventListener("close", () => {
  if (keyDialog.returnValue !== "save") return
  giveKey(at("key-input").value.trim())
  checking.soon(0)
})

const dark = matchMedia("(prefers-color-scheme: dark)")
let theme = recallOneOf("theme", ["light", "dark"])
const showTheme = () => (document.documentElement.dataset.theme = theme ?? (dark.matches ? "dark" : "light"))
dark.addEventListener("change", showTheme)
at("theme").addEventListener("click", () => {
  theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark"
  remember("theme", theme)
  showTheme()
})

at("language").addEventListener("click", switchLanguage)
onLanguage(() => show())
editor.start()
showTheme()
levels.find(({ value }) => value === level).checked = true
translate()
area.focus()
if (area.value) changed()
