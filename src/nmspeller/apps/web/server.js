// The server as the page knows it: answers, or one of five kinds of no.

import { presentLanguage } from "./language.js"
import { byPlace } from "./segments.js"

export class Offline extends Error {}
export class NeedsKey extends Error {}
export class WrongKey extends NeedsKey {}
export class Busy extends Error {
  constructor(seconds) {
    super()
    this.seconds = seconds
  }
}
export class Refused extends Error {}

const KEY = "nmspeller.key"

export function giveKey(key) {
  sessionStorage.setItem(KEY, key)
}

async function ask(path, { signal, ...request } = {}, headers = {}) {
  headers = new Headers({ ...headers, "Accept-Language": presentLanguage() })
  const key = sessionStorage.getItem(KEY)
  try {
    if (key) headers.set("Authorization", `Bearer ${key}`)
  } catch {
    // No header can hold such a key, so it cannot be the right one.
    throw new WrongKey()
  }
  const answer = await unlessGone(fetch(path, { ...request, headers, signal }))
  if (answer.status === 401) throw key ? new WrongKey() : new NeedsKey()
  if (answer.status === 429 || answer.status === 503) throw new Busy(Number(answer.headers.get("Retry-After")) || 2)
  // A proxy whose server is gone answers in HTML; that is no refusal of the text.
  if (!answer.ok) throw new Refused((await unlessGone(answer.json())).error)
  return answer
}

async function unlessGone(promise) {
  try {
    return await promise
  } catch (wrong) {
    throw wrong.name === "AbortError" ? wrong : new Offline()
  }
}

// The edits of each text, with offsets in JavaScript's own UTF-16 units.
export async function check(texts, options, signal) {
  const body = JSON.stringify({ text: texts, explain: true, ...options })
  const answer = await ask("v1/check", { method: "POST", body, signal }, { "Content-Type": "application/json" })
  const { results } = await unlessGone(answer.json())
  return results.map((result, index) => findingsIn(result, unitsOf(texts[index])))
}

// What may be the word at a place, the likeliest first.
export async function wordsAround(text, start, length) {
  const [offset, stop] = [start, start + length].map((unit) => [...text.slice(0, unit)].length)
  const body = JSON.stringify({ text, offset, length: stop - offset })
  const answer = await ask("v1/words/around", { method: "POST", body }, { "Content-Type": "application/json" })
  return (await unlessGone(answer.json())).words.map(({ word }) => word)
}

export async function rules() {
  return unlessGone((await ask("v1/rules")).json())
}

// First the text of a file, then one part after the other: where it stops, and its edits.
export async function* checkFile(file, options, signal) {
  const form = formOf(file, { explain: true, stream: true, ...options })
  const answer = await ask("v1/files", { method: "POST", body: form, signal })
  let units
  let isDone = false
  for await (const line of lines(answer.body)) {
    if (line.error) throw new Refused(line.error)
    if (line.done) isDone = true
    else if (line.source !== undefined) {
      units = unitsOf(line.source)
      yield { source: line.source, tracksChanges: line.tracks_changes }
    } else yield { stop: units(line.stop), edits: findingsIn(line, units) }
  }
  if (!isDone) throw new Offline()
}

// The file with some edits, whose offsets count code points.
export async function correctedFile(file, edits, track) {
  const form = formOf(file, { edits: JSON.stringify(edits), track })
  return unlessGone((await ask("v1/files/corrected", { method: "POST", body: form })).blob())
}

function formOf(file, fields) {
  const form = new FormData()
  form.append("file", file, file.name)
  for (const [name, value] of Object.entries(fields))
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, typeof one === "object" ? JSON.stringify(one) : one)
  return form
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  while (true) {
    const { done, value } = await unlessGone(reader.read())
    if (done) return
    const whole = (rest + value).split("\n")
    rest = whole.pop()
    yield* whole.map((line) => JSON.parse(line))
  }
}

// From code points to UTF-16 units; most texts need no table.
function unitsOf(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (point) => point
  const starts = [0]
  for (const character of text) starts.push(starts.at(-1) + character.length)
  return (point) => starts[point]
}

// The edits, and the hints as edits without a target, in order.
function findingsIn({ edits, hints }, units) {
  const doubts = hints.map((hint) => ({ ...hint, target: null, reason: "rule", confidence: 1, alternatives: [] }))
  return [...edits, ...doubts]
    .sort(byPlace)
    .map((edit) => ({
      ...edit,
      offset: units(edit.offset),
      length: units(edit.offset + edit.length) - units(edit.offset),
      inCodePoints: { offset: edit.offset, length: edit.length },
    }))
}
