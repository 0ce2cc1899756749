// The server as the page knows it: answers, or one of four kinds of no.

export class Offline extends Error {}
export class NeedsKey extends Error {}
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

async function post(path, body, signal) {
  const headers = new Headers({ "Content-Type": "application/json" })
  const key = sessionStorage.getItem(KEY)
  try {
    if (key) headers.set("Authorization", `Bearer ${key}`)
  } catch {
    // No header can hold such a key, so it cannot be the right one.
    throw new NeedsKey()
  }
  let answer
  try {
    answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal })
  } catch (wrong) {
    if (wrong.name === "AbortError") throw wrong
    throw new Offline()
  }
  if (answer.status === 401) throw new NeedsKey()
  if (answer.status === 429 || answer.status === 503)
    throw new Busy(Number(answer.headers.get("Retry-After")) || 2)
  // A proxy whose server is gone answers in HTML; that is no refusal of the text.
  const content = await answer.json().catch(() => {
    throw new Offline()
  })
  if (!answer.ok) throw new Refused(content.error)
  return content
}

// The edits of each text, with offsets in JavaScript's own UTF-16 units.
export async function check(texts, { level, words }, signal) {
  const { results } = await post("v1/check", { text: texts, level, words }, signal)
  return results.map(({ edits }, index) => toUnits(texts[index], edits))
}

function toUnits(text, edits) {
  if (!/[\ud800-\udbff]/.test(text)) return edits
  const starts = [0]
  for (const character of text) starts.push(starts.at(-1) + character.length)
  return edits.map((edit) => ({
    ...edit,
    offset: starts[edit.offset],
    length: starts[edit.offset + edit.length] - starts[edit.offset],
  }))
}
