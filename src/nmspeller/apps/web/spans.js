// Spans of a text: those that are drawn one by one, and those that are found wrong.

const LONG = 240
const LONGEST = 600
const SENTENCE_END = /[。！？；!?;…]+[”’」』）》)"']*/g

// Paragraphs, and long paragraphs by their sentences: a keystroke changes one of them, so only that one is drawn again.
export function split(text) {
  const spans = []
  let start = 0
  while (start < text.length) {
    const line = text.indexOf("\n", start)
    const stop = line < 0 ? text.length : line + 1
    splitParagraph(text.slice(start, stop), spans)
    start = stop
  }
  return spans
}

function splitParagraph(paragraph, spans) {
  let start = 0
  const cut = (stop) => {
    while (stop - start > LONGEST) {
      let end = start + LONGEST
      // Never between the halves of one character.
      if (/[\udc00-\udfff]/.test(paragraph[end])) end -= 1
      spans.push(paragraph.slice(start, end))
      start = end
    }
    if (stop > start) spans.push(paragraph.slice(start, stop))
    start = stop
  }
  if (paragraph.length > LONG)
    for (const end of paragraph.matchAll(SENTENCE_END)) {
      const stop = end.index + end[0].length
      if (stop - start >= LONG) cut(stop)
    }
  cut(paragraph.length)
}

// How many characters a text has, without white space. No list of them is made: a text may have a million.
export function countOf(text) {
  let count = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    const isSecondHalf = unit >= 0xdc00 && unit < 0xe000
    const isSpace = unit <= 0x20 || unit === 0xa0 || unit === 0x3000 || unit === 0x2028 || unit === 0xfeff
    if (!isSecondHalf && !isSpace) count += 1
  }
  return count
}

// How many items at the front and at the back of two lists, or characters of two texts, are the same.
export function unchanged(before, after) {
  const most = Math.min(before.length, after.length)
  let front = 0
  while (front < most && before[front] === after[front]) front += 1
  let back = 0
  while (back < most - front && before.at(-1 - back) === after.at(-1 - back)) back += 1
  return { front, back }
}

// Edits of one text carried over to what it has become: those that the change did not touch stay where they belong.
export function carryOver(edits, before, after) {
  const { front, back } = unchanged(before, after)
  const shift = after.length - before.length
  return edits.flatMap((edit) => {
    if (edit.offset + edit.length <= front) return [edit]
    if (edit.offset >= before.length - back) return [{ ...edit, offset: edit.offset + shift }]
    return []
  })
}

// Where a change is: an insertion may stand right before a replacement, at the same offset.
export const placeOf = (offset, { length }) => `${offset}+${length}`

export const byPlace = (one, other) => one.offset - other.offset || one.length - other.length

// Neighbours do not overlap; two insertions at one place do.
export const overlap = (one, other) =>
  (one.offset === other.offset && one.length === other.length) ||
  (one.offset < other.offset + other.length && other.offset < one.offset + one.length)
