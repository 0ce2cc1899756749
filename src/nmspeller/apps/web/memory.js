// What this browser remembers. Where storage is forbidden the page works all the same.

const PREFIX = "nmspeller."

export function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? undefined
  } catch {
    return undefined
  }
}

// What is stored besides the known values, by another page of this address or by hand, counts as nothing.
export function recallOneOf(name, known) {
  const value = recall(name)
  return known.includes(value) ? value : undefined
}

// Whether it could be stored: storage may be full or forbidden.
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value))
    return true
  } catch {
    return false
  }
}

export function forget(name) {
  try {
    localStorage.removeItem(PREFIX + name)
  } catch {
    // What cannot be stored need not be removed.
  }
}

// Tell when another tab changes a value.
export function onOtherTab(name, listener) {
  addEventListener("storage", ({ key }) => {
    if (key === PREFIX + name) listener()
  })
}
