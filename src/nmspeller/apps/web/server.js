// The server as the page knows it: answers, or one of six kinds of no.

import { presentLanguage } from "./language.js"
import { byPlace } from "./spans.js"

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
export class TooLong extends Refused {}

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
  if (!answer.ok) {
    const sentence = (await unlessGone(answer.json()))?.error
    // A proxy whose server is gone answers in HTML, or in JSON of its own; that is no refusal of the text.
    if (typeof sentence !== "string") throw new Offline()
    throw new (answer.status === 413 ? TooLong : Refused)(sentence)
  }
  return answer
}

async function unlessGone(promise) {
  try {
    return await promise
  } catch (wrong) {
    throw wrong.name === "AbortError" ? wrong : new Offline()
  }
}

// One part of the text after the other: where it stops, and what was found in it, with offsets in JavaScript's UTF-16 units.
export async function* check(text, options, signal) {
  const body = JSON.stringify({ text, explain: true, stream: true, ...options })
  const answer = await ask("v1/check", { method: "POST", body, signal }, { "Content-Type": "application/json" })
  const units = unitsOf(text)
  for await (const line of lines(answer.body)) yield partOf(line, units)
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
  for await (const line of lines(answer.body)) {
    if (line.source === undefined) yield partOf(line, units)
    else {
      units = unitsOf(line.source)
      const places = line.places.map((place) => ({ ...place, start: units(place.start), stop: units(place.stop) }))
      yield { source: line.source, tracksChanges: line.tracks_changes, places }
    }
  }
}

const partOf = (line, units) => ({ stop: units(line.stop), edits: findingsIn(line, units) })

// The file with some edits, whose offsets count code points; and the indices of those that could not be tracked.
export async function correctedFile(file, edits, track) {
  const form = formOf(file, { edits: JSON.stringify(edits), track })
  const answer = await ask("v1/files/corrected", { method: "POST", body: form })
  const numbers = answer.headers.get("Nmspeller-Left-Out")?.split(",") ?? []
  return { content: await unlessGone(answer.blob()), leftOut: numbers.map((number) => Number(number) - 1) }
}

function formOf(file, fields) {
  const form = new FormData()
  form.append("file", file, file.name)
  for (const [name, value] of Object.entries(fields))
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, typeof one === "object" ? JSON.stringify(one) : one)
  return form
}

// The lines of a streamed answer, of which the last says that it is complete.
async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  let isDone = false
  while (true) {
    const { done, value } = await unlessGone(reader.read())
    if (done) break
    const whole = (rest + value).split("\n")
    rest = whole.pop()
    for (const line of whole.map((one) => JSON.parse(one))) {
      if (line.error) throw new Refused(line.error)
      if (line.done) isDone = true
      else yield line
    }
  }
  if (!isDone) throw new Offline()
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
      byAnother: edit.by_another ?? false,
      inCodePoints: { offset: edit.offset, length: edit.length },
    }))
}
