// The page put together.

import { parted, save } from "./downloads.js"
import { Editor } from "./editor.js"
import { element } from "./element.js"
import { Popover, Rows, groupsOf } from "./findings.js"
import { wordsAt, wordsAtCaret } from "./guess.js"
import { LEGEND, isForAll } from "./kinds.js"
import { _, fill, onLanguage, switchLanguage, translate } from "./language.js"
import { recallOneOf, remember } from "./memory.js"
import { Opened } from "./opened.js"
import { Replacements } from "./replacements.js"
import { Rules } from "./rules.js"
import { NeedsKey, giveKey } from "./server.js"
import { countOf } from "./spans.js"
import { isNarrow, onView, wayIntoView } from "./viewport.js"
import { Words } from "./words.js"
import { Writing } from "./writing.js"

const EXAMPLE = `今天天汽真好，我和朋友一起去公园玩，大家都很高心。
他己经工作三年了，每天都很认真的完成任务，老板对他的表现非长满意。
我门在家乡的小河边长大，那里的平果又大又甜。`
const LONG = 3000 // characters, from which on progress is shown in per cent

const at = (id) => document.getElementById(id)
const area = at("text")
const editor = new Editor({ area, underlay: at("underlay") })
const levels = [...document.getElementsByName("level")]
const words = new Words(recheck)
const replacements = new Replacements(recheck)
const rules = new Rules(recheck)
let level = recallOneOf("level", levels.map(({ value }) => value)) ?? "balanced"
let findings = []
let composing = false
let scrolledTo = 0 // where the text was scrolled to show a finding

const options = async () => ({ level, words: words.list, replacements: replacements.asked, rules: await rules.asked() })
const actions = { accept, ignore, protect }
const rows = new Rows(at("rows"), { ...actions, point })
const popover = new Popover(at("popover"), {
  ...actions,
  go: (finding) => choose(finding, true),
  onClose: (back) => {
    editor.active = null
    editor.draw(subject.spans, findings)
    if (back) area.focus({ preventScroll: true })
  },
})
const writing = new Writing(area, options, show)
let subject = writing // or a file that is open

function recheck() {
  for (const one of new Set([writing, subject])) one.recheck()
}

function show() {
  findings = subject.findings()
  editor.draw(subject.spans, findings)
  rows.draw(findings)
  at("findings-count").textContent = findings.length
  at("findings-count").hidden = !findings.length
  const { length: count } = findings.filter(isForAll)
  at("accept-all").disabled = !count
  at("accept-all").textContent = count ? fill(_("Accept all ({count})"), { count }) : _("Accept all")
  const characters = countOf(subject.text)
  at("length").textContent = fill(_("{count} characters"), { count: characters.toLocaleString() })
  showState()
  showFile()
}

const SENTENCES = {
  offline: () => _("The server cannot be reached; trying again. Your text is safe."),
  busy: () => _("The server is busy; checking continues automatically."),
  refused: () => fill(_("Not checked: {sentence}"), { sentence: subject.checking.sentence }),
  needsKey: () => _("This server needs an access key."),
  wrongKey: () => _("The access key is wrong."),
  checking: () => _("Checking …"),
}

function showState() {
  const { state } = subject.checking
  const isEmpty = !subject.text.trim()
  const isIdle = state === "done" || state === "ready"
  const sentence = !isIdle
    ? SENTENCES[state]()
    : isEmpty
      ? _("Ready")
      : subject.stretches > 1
        ? fill(_("Too long for this server at once: checked in {count} stretches, each by itself"), { count: subject.stretches })
        : findings.length
          ? fill(_("Checked, {count} to review"), { count: findings.length })
          : _("Checked")
  at("state").dataset.state = isIdle ? "done" : state
  if (at("state-text").textContent !== sentence) at("state-text").textContent = sentence
  const isLong = state === "checking" && subject.text.length > LONG
  at("progress").hidden = at("percent").hidden = !isLong
  at("progress").value = subject.progress
  at("percent").textContent = `${Math.floor(100 * subject.progress)}%`
  at("give-key").hidden = state !== "needsKey" && state !== "wrongKey"
  at("kept").hidden = subject !== writing || isEmpty
  at("kept").textContent = writing.kept.isKept ? _("Draft kept in this browser") : _("This draft is not kept")
  at("kept").dataset.kept = writing.kept.isKept
  at("welcome").hidden = !isEmpty || subject !== writing
  at("legend").hidden = !isEmpty || findings.length > 0
  at("clean").hidden = isEmpty || findings.length > 0 || state !== "done"
  at("waiting").hidden = isEmpty || findings.length > 0 || isIdle
  at("waiting-text").textContent = sentence
  showClean()
}

// Nothing is called free of errors that was not checked, or that was found and ignored.
function showClean() {
  const { missing } = rules
  const isIgnored = subject.spans.some(({ edits }) => edits.length)
  at("clean-big").textContent = isIgnored ? _("Nothing left to review") : missing.length ? _("Nothing found in what was checked") : _("No errors found")
  at("not-checked").hidden = at("check-rules").hidden = !missing.length
  at("not-checked").textContent = fill(_("Rules that are off: {groups}"), { groups: missing.join(_(", ")) })
  at("try-thorough").hidden = level === "thorough"
}

function showFile() {
  const isFile = subject !== writing
  at("file").hidden = !isFile
  at("clear").hidden = isFile
  if (!isFile) return
  at("file-name").textContent = subject.file.name
  at("download").disabled = at("download-tracked").disabled = !subject.accepted.size
  at("download-tracked").hidden = !subject.tracksChanges
  at("file-accepted").textContent = subject.accepted.size
    ? fill(_("{count} accepted"), { count: subject.accepted.size })
    : _("accept suggestions, then download")
}

// Show where a finding is, and mark it; where there is none, take the mark away.
function point(finding) {
  popover.close(false)
  editor.active = finding?.place ?? null
  show()
  if (!finding) return
  bringIntoView(finding)
  at("rows").querySelector("[data-open]")?.scrollIntoView({ block: "nearest" })
}

function bringIntoView(finding) {
  const box = at("scroll")
  const rectangle = editor.rectangle(finding)
  if (!rectangle) return null
  const frame = box.getBoundingClientRect()
  if (rectangle.top < frame.top + 20 || rectangle.bottom > frame.bottom - 20)
    box.scrollTop += rectangle.top - frame.top - frame.height / 3
  scrolledTo = box.scrollTop
  return editor.rectangle(finding)
}

// On a narrow screen the popover is at the lower edge, where it must not cover the finding.
function uncover() {
  const finding = findings.find(({ place }) => place === editor.active)
  if (!finding || !popover.open || !isNarrow()) return
  scrollBy(0, wayIntoView(editor.rectangle(finding), popover.box.getBoundingClientRect()))
}

function choose(finding, focus) {
  rows.open = null
  editor.active = finding.place
  show()
  let rectangle = bringIntoView(finding)
  if (!rectangle) return
  const frame = at("scroll").getBoundingClientRect()
  if (frame.top < 0 || frame.bottom > innerHeight + frame.height / 2) {
    at("scroll").scrollIntoView({ block: "nearest" })
    rectangle = editor.rectangle(finding)
  }
  // Only the caret moves, and not away from where a click has put it: what is selected, the next keystroke would replace.
  const end = finding.start + finding.length
  if (focus) area.setSelectionRange(end, end)
  // The findings were drawn anew.
  const current = findings.find(({ place }) => place === finding.place)
  const group = groupsOf(findings).find((one) => one.findings.includes(current)).findings
  popover.show(current, group, rectangle, { focus })
  uncover()
}

// Do something that changes the findings. The focus stays among them if it was there.
function act(what) {
  const { place } = rows
  popover.close(false)
  editor.active = null
  what()
  if (place < 0 || !rows.focusAt(place)) focusText()
}

// A phone's keyboard stays away.
function focusText() {
  if (!matchMedia("(pointer: coarse)").matches) area.focus({ preventScroll: true })
}

function accept(list, target) {
  act(() => subject.accept(list.map((finding) => ({ finding, target }))))
}

function acceptAll() {
  act(() => subject.accept(findings.filter(isForAll).map((finding) => ({ finding, target: finding.target }))))
}

function ignore(list) {
  act(() => subject.ignore(list))
}

function takeBack(way) {
  act(() => subject[way]())
}

function protect(finding) {
  popover.close(false)
  // The dialog gives the focus back to where it was, and the finding may be gone by then.
  focusText()
  words.open(wordsAt(finding.span.text, finding.offset, finding.length), true)
}

function step(direction) {
  if (!findings.length) return
  // On from the finding at hand, or else from the caret.
  const active = findings.findIndex(({ place }) => place === editor.active)
  const after = findings.findIndex(({ start }) => start >= area.selectionStart)
  const caret = after < 0 ? findings.length : after
  const next = active < 0 ? (direction > 0 ? caret : caret - 1) : active + direction
  choose(findings.at(next % findings.length), true)
}

function typed(event, isTyped) {
  popover.close(false)
  rows.open = null
  editor.active = null
  if (subject === writing) writing.typed({ composing, typed: isTyped })
}

area.addEventListener("compositionstart", () => (composing = true))
area.addEventListener("compositionend", (event) => {
  composing = false
  typed(event, true)
})
area.addEventListener("input", (event) => typed(event, event.inputType === "insertText"))
area.addEventListener("beforeinput", (event) => {
  const way = { historyUndo: "undo", historyRedo: "redo" }[event.inputType]
  if (!way) return
  event.preventDefault()
  takeBack(way)
})
// Also from among the findings; other fields have an undo of their own.
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || composing) return
  if (event.target !== area && event.target.closest("input, dialog")) return
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
  if (composing) return
  if (event.altKey && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault()
    step(event.key === "ArrowDown" ? 1 : -1)
  } else if (event.key === "Escape" && popover.open) {
    popover.close(true)
  } else if (event.key === "Escape" && rows.open && rows.place >= 0) {
    rows.close()
  }
})
at("scroll").addEventListener("scroll", () => at("scroll").scrollTop === scrolledTo || popover.close(false), { passive: true })
addEventListener("resize", () => isNarrow() || popover.close(false))
onView(uncover)

at("open-words").addEventListener("click", () => words.open(wordsAtCaret(area)))
at("accept-all").addEventListener("click", acceptAll)
at("undo").addEventListener("click", () => takeBack("undo"))
at("clear").addEventListener("click", () => act(() => writing.replace(0, area.value.length, "")))
at("example").addEventListener("click", () => act(() => writing.replace(0, area.value.length, EXAMPLE)))
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
  at("copy-text").textContent = _("Copied")
  setTimeout(() => (at("copy-text").textContent = _("Copy")), 1500)
})

function setLevel(value) {
  level = value
  remember("level", level)
  levels.find((one) => one.value === level).checked = true
  recheck()
}
at("level").addEventListener("change", (event) => setLevel(event.target.value))
at("check-rules").addEventListener("click", () => rules.applyAll())
at("try-thorough").addEventListener("click", () => setLevel("thorough"))
at("menu").addEventListener("click", () => {
  const isOpen = at("more").toggleAttribute("data-open")
  at("menu").setAttribute("aria-expanded", isOpen)
})

// Files
function notice(sentence) {
  at("notice-text").textContent = sentence
  at("notice").hidden = !sentence
}

function openFile(file) {
  notice("")
  at("more").removeAttribute("data-open")
  at("menu").setAttribute("aria-expanded", false)
  if (!mayClose()) return
  if (subject !== writing) subject.leave()
  const opened = new Opened(file, area, options, {
    onChange: () => {
      if (subject === opened) show()
    },
    onRefused: (sentence) => {
      if (subject !== opened) return
      closeFile()
      const isNamed = sentence.includes(file.name)
      notice(isNamed ? sentence : fill(_("{file} was not opened. {sentence}"), { file: file.name, sentence }))
    },
  })
  turnTo(opened)
}

const mayClose = () => subject.isSafe || subject === writing || confirm(_("The accepted changes have not been downloaded. Close the file?"))

function closeFile() {
  subject.leave()
  turnTo(writing)
}

function turnTo(next) {
  popover.close(false)
  rows.open = null
  editor.active = null
  subject = next
  subject.enter()
  show()
  at("scroll").scrollTop = 0
}

function sentenceAbout(missing) {
  const changes = missing.map(({ edit, target, where }) => fill(_("{source} → {target} ({place})"), { source: edit.source, target, place: where.label }))
  return fill(_("Not in this file, because changes in comments cannot be tracked: {changes}. “Download” writes all changes."), { changes: changes.join(_(", ")) })
}

async function download(track) {
  const [name, extension] = parted(subject.file.name)
  try {
    const { content, missing } = await subject.download(track)
    save(content, fill(_("{name}-corrected"), { name }) + extension)
    notice(missing.length ? sentenceAbout(missing) : "")
  } catch (wrong) {
    if (wrong instanceof NeedsKey) askForKey()
    else notice(wrong.message || _("The server cannot be reached now; try again in a moment."))
  }
}

at("open-file").addEventListener("click", () => at("file-input").click())
at("welcome-open").addEventListener("click", () => at("file-input").click())
at("file-input").addEventListener("change", () => {
  const [file] = at("file-input").files
  if (file) openFile(file)
  // The same file may be chosen again.
  at("file-input").value = ""
})
at("close-file").addEventListener("click", () => {
  if (mayClose()) closeFile()
})
at("download").addEventListener("click", () => download(false))
at("download-tracked").addEventListener("click", () => download(true))
at("notice-close").addEventListener("click", () => notice(""))

const hasFiles = (event) => event.dataTransfer?.types.includes("Files")
addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return
  event.preventDefault()
  at("drop").hidden = false
})
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) at("drop").hidden = true
})
addEventListener("drop", (event) => {
  if (!hasFiles(event)) return
  event.preventDefault()
  at("drop").hidden = true
  if (event.dataTransfer.files.length === 1) openFile(event.dataTransfer.files[0])
  else notice(_("Open one file at a time."))
})
addEventListener("beforeunload", (event) => {
  writing.kept.now()
  if (!writing.isSafe || !subject.isSafe) event.preventDefault()
})

const keyDialog = at("key")
const askForKey = () => {
  at("key-wrong").hidden = subject.checking.state !== "wrongKey"
  keyDialog.showModal()
}
at("give-key").addEventListener("click", askForKey)
at("key-cancel").addEventListener("click", () => keyDialog.close(""))
keyDialog.addEventListener("close", () => {
  if (keyDialog.returnValue !== "save") return
  giveKey(at("key-input").value.trim())
  at("key-input").value = ""
  subject.checking.soon(0)
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

at("language").addEventListener("click", () => {
  switchLanguage()
  // The server explains its findings in the language of the page.
  recheck()
})
onLanguage(() => {
  at("kinds").replaceChildren(
    ...LEGEND.map(({ kind, sign, name }) =>
      element("li", { class: kind }, element("span", { class: "sign", lang: "zh" }, sign), element("span", { class: "lined" }, name())),
    ),
  )
  show()
})
editor.start()
levels.find(({ value }) => value === level).checked = true
translate()
showTheme()
area.focus()
