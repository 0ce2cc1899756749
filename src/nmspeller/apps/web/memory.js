// What this browser remembers. Where storage is forbidden the page works all the same.

const PREFIX = "nmspeller."

export function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? undefined
  } catch {
    return undefined
  }
}

// What an older page, or a curious hand, has stored besides the known values counts as nothing.
export function recallOneOf(name, known) {
  const value = recall(name)
  return known.includes(value) ? value : undefined
}

export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    // Storage is full or forbidden.
  }
}
