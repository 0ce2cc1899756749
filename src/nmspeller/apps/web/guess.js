// Which word a place in the text belongs to. The server guesses, as it does for editors and the terminal.

import { wordsAround } from "./server.js"

const CONTEXT = 40
const IN_A_WORD = /[\p{L}\p{N}]/u

// What may be the word at a finding, the likeliest first. Without the server the finding itself is all that is known.
export async function wordsAt(text, start, length) {
  let left = Math.max(0, start - CONTEXT)
  let right = Math.min(text.length, start + length + CONTEXT)
  // Never between the halves of one character.
  if (/[\udc00-\udfff]/.test(text[left] ?? "")) left += 1
  if (/[\udc00-\udfff]/.test(text[right] ?? "")) right += 1
  try {
    return await wordsAround(text.slice(left, right), start - left, length)
  } catch {
    return [text.slice(start, start + length)].filter((word) => IN_A_WORD.test(word))
  }
}

// What is selected, or else what may be the word under the caret.
export async function wordsAtCaret({ value, selectionStart, selectionEnd }) {
  const selected = value.slice(selectionStart, selectionEnd).trim()
  if (selected) return selected.includes("\n") ? [] : [selected]
  for (const start of [selectionStart, selectionStart - 1]) if (IN_A_WORD.test(value[start] ?? "")) return wordsAt(value, start, 1)
  return []
}
