// What this browser remembers. Where storage is forbidden the page works all the same.

const PREFIX = "nmspeller."

export function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? undefined
  } catch {
    return undefined
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    // Storage is full or forbidden.
  }
}
