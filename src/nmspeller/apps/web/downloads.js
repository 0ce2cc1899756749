// Files that are saved: two downloads of one file have two names, since they may differ in what is accepted.

import { element } from "./element.js"

const COUNTS = "nmspeller.downloads" // of each name, while this tab is open
const counts = new Map(recalled())

function recalled() {
  try {
    return JSON.parse(sessionStorage.getItem(COUNTS)) ?? []
  } catch {
    return []
  }
}

export function save(content, name) {
  const address = URL.createObjectURL(content)
  element("a", { href: address, download: numbered(name) }).click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

// The name itself the first time, then “name (2).docx” and so on, as browsers and file managers number copies.
function numbered(name) {
  const count = (counts.get(name) ?? 0) + 1
  counts.set(name, count)
  try {
    sessionStorage.setItem(COUNTS, JSON.stringify([...counts]))
  } catch {
    // Without storage the names are counted until the page is left.
  }
  const [stem, extension] = parted(name)
  return count > 1 ? `${stem} (${count})${extension}` : name
}

export function parted(name) {
  const dot = name.lastIndexOf(".") > 0 ? name.lastIndexOf(".") : name.length
  return [name.slice(0, dot), name.slice(dot)]
}
