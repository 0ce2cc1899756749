// A plain text area with underlines behind it. The text area keeps what browsers do well: input methods, selection, screen
// readers. The underlay repeats its text invisibly and only draws the lines.

import { kindOf } from "./kinds.js"

export class Editor {
  constructor({ area, underlay }) {
    this.area = area
    this.underlay = underlay
    this.drawn = [] // { key, node, own } for each paragraph
    this.active = null // the place of the chosen finding
  }

  get text() {
    return this.area.value
  }

  // Draw the spans; paragraphs that look as before are left alone. Each is a block of its own, so that the browser, too, lays
  // out no more than what has changed: in one block, a mark in a text of a million characters takes seconds.
  draw(spans, findings) {
    const bySpan = new Map()
    for (const finding of findings) {
      if (!bySpan.has(finding.span)) bySpan.set(finding.span, [])
      bySpan.get(finding.span).push(finding)
    }
    const paragraphs = paragraphsOf(spans)
    const next = paragraphs.map((paragraph, index) => {
      const own = paragraph.flatMap((span) => bySpan.get(span) ?? [])
      const marks = own.map((f) => `${paragraph.indexOf(f.span)}:${f.offset}+${f.length}${classOf(f, this.active)}`).join(" ")
      const region = paragraph[0].where?.region
      // Named where it begins.
      const margin = region && (region === paragraphs[index - 1]?.at(-1).where?.region ? "┆" : region)
      return { key: `${marks}\n${margin}\n${paragraph.map(({ text }) => text).join("")}`, paragraph, own, margin }
    })
    this.underlay.parentElement.toggleAttribute("data-margin", spans.some(({ where }) => where))
    const most = Math.min(next.length, this.drawn.length)
    let front = 0
    while (front < most && next[front].key === this.drawn[front].key) next[front].node = this.drawn[front++].node
    let back = 0
    while (back < most - front && next.at(-1 - back).key === this.drawn.at(-1 - back).key) {
      next.at(-1 - back).node = this.drawn.at(-1 - back).node
      back += 1
    }
    for (const old of this.drawn.slice(front, this.drawn.length - back)) old.node.remove()
    const anchor = back ? this.drawn[this.drawn.length - back].node : this.underlay.lastElementChild
    for (const item of next.slice(front, next.length - back)) {
      item.node = document.createElement("div")
      item.node.append(...item.paragraph.map((span) => drawSpan(span.text, bySpan.get(span) ?? [], this.active)))
      if (item.margin) item.node.dataset.region = item.margin
      this.underlay.insertBefore(item.node, anchor)
    }
    this.drawn = next
    // A text that ends with a line break, or is empty, has one more line, which is empty.
    this.underlay.lastElementChild.hidden = spans.length > 0 && !spans.at(-1).text.endsWith("\n")
  }

  start() {
    // A line that is empty has a height only if something stands on it.
    const end = document.createElement("div")
    end.textContent = "\u200b"
    this.underlay.replaceChildren(end)
    this.drawn = []
  }

  // Where a finding is on the screen.
  rectangle(finding) {
    for (const { own, node } of this.drawn) {
      const index = own.findIndex((one) => one.place === finding.place)
      if (index >= 0) return node.querySelectorAll("mark")[index].getBoundingClientRect()
    }
    return null
  }
}

// The spans of each line of the text.
function paragraphsOf(spans) {
  const paragraphs = []
  let isOpen = false
  for (const span of spans) {
    if (isOpen) paragraphs.at(-1).push(span)
    else paragraphs.push([span])
    isOpen = !span.text.endsWith("\n")
  }
  return paragraphs
}

function classOf(finding, active) {
  const classes = [kindOf(finding).kind]
  if (!finding.length) classes.push("gap")
  if (finding.place === active) classes.push("active")
  return classes.join(" ")
}

function drawSpan(text, findings, active) {
  const node = document.createElement("span")
  let end = 0
  for (const finding of findings) {
    node.append(text.slice(end, finding.offset))
    const mark = document.createElement("mark")
    mark.className = classOf(finding, active)
    end = finding.offset + finding.length
    mark.append(text.slice(finding.offset, end))
    node.append(mark)
  }
  node.append(text.slice(end))
  return node
}
