// Lists of words and of replacements as plain text, in the format that the command line reads (docs/words.md): one word, or
// wrong, a tab and right, per line; empty lines and lines that begin with # do not count.

import { save } from "./downloads.js"
import { element } from "./element.js"
import { _, fill } from "./language.js"

export const MOST = 2000
export const LONGEST = 64

export class WrongList extends Error {}

const sizeOf = (text) => [...text].length
const isComment = (line) => line.startsWith("#")
const trimSpaces = (line) => line.replace(/^ +| +$/g, "")

export function wordsFrom(text) {
  return linesOf(text, (line) => line.trim()).map(({ line, number }) => {
    if (sizeOf(line) > LONGEST) throw tooLong(number)
    return line
  })
}

// The right side may be empty, and an ideographic space may belong to either side.
export function pairsFrom(text) {
  return linesOf(text, trimSpaces).map(({ line, number }) => {
    const [wrong, right, ...more] = line.split("\t")
    if (!wrong || right === undefined || more.length)
      throw new WrongList(fill(_("Line {number}: write the wrong text, one tab, the right text."), { number }))
    if (sizeOf(wrong) > LONGEST || sizeOf(right) > LONGEST) throw tooLong(number)
    return [wrong, right]
  })
}

function linesOf(text, trim) {
  return text
    .split(/\r\n|\r|\n/)
    .map((line, index) => ({ line: trim(line), number: index + 1 }))
    .filter(({ line }) => line && !isComment(line))
}

const tooLong = (number) => new WrongList(fill(_("Line {number} has more than {most} characters."), { number, most: LONGEST }))

// What is typed must be able to become a line of a file.
export function checked(text) {
  const line = trimSpaces(text)
  if (isComment(line) || /[\t\r\n]/.test(line)) throw new WrongList(fill(_("“{word}” cannot be in a list; it must not begin with #."), { word: line }))
  return line
}

export function withRoom(list) {
  if (list.length > MOST) throw new WrongList(fill(_("A list has room for {most}; remove some first."), { most: MOST.toLocaleString() }))
  return list
}

export async function readText(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer())
  } catch {
    throw new WrongList(fill(_("{file} cannot be read as UTF-8; save it as UTF-8."), { file: file.name }))
  }
}

export function saveLines(name, lines) {
  save(new Blob(lines.map((line) => `${line}\n`), { type: "text/plain;charset=utf-8" }), name)
}

// A list in a dialog: a row for each item, import and export, and a line that says what has happened.
export class ListOnPage {
  constructor(name, { items, count, note, fileName, parse, format, label, merge, onChange }) {
    const at = (id) => document.getElementById(id)
    Object.assign(this, { items, format, label, merge, onChange })
    this.box = at(name)
    this.count = at(count)
    this.note = at(note)
    const chooser = at(`${name}-file`)
    at(`${name}-import`).addEventListener("click", () => chooser.click())
    at(`${name}-export`).addEventListener("click", () => saveLines(fileName, this.items.map(format)))
    chooser.addEventListener("change", () => {
      const [file] = chooser.files
      if (file) this.attempt(async () => this.add(parse(await readText(file))))
      chooser.value = "" // the same file may be chosen again
    })
    this.exporter = at(`${name}-export`)
  }

  async attempt(what) {
    this.say("")
    try {
      return await what()
    } catch (wrong) {
      if (!(wrong instanceof WrongList)) throw wrong
      this.say(wrong.message, true)
    }
  }

  say(sentence, isWrong = false) {
    this.note.textContent = sentence
    this.note.classList.toggle("wrong", isWrong)
  }

  add(items) {
    const before = this.items.length
    this.change(withRoom(this.merge(this.items, items)))
    this.say(fill(_("{count} added."), { count: this.items.length - before }))
  }

  change(items) {
    this.items = items
    this.draw()
    this.onChange(items)
  }

  draw() {
    if (this.count) {
      this.count.textContent = this.items.length
      this.count.hidden = !this.items.length
    }
    this.exporter.disabled = !this.items.length
    this.box.replaceChildren(
      ...this.items.map((item) =>
        element(
          "li",
          {},
          ...this.label(item),
          element(
            "button",
            {
              type: "button",
              "aria-label": fill(_("Remove “{word}”"), { word: this.format(item).replace("\t", " → ") }),
              onclick: () => this.change(this.items.filter((other) => other !== item)),
            },
            "×",
          ),
        ),
      ),
    )
  }
}
