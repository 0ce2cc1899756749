// The page in the reader's language. Texts are English in the code; messages.zh.json, which scripts/messages.py writes, has
// the Chinese. In HTML, data-t names what is to be translated: attributes, or the text if it names none.

import { recallOneOf, remember } from "./memory.js"

const LANGUAGES = ["zh", "en"]

const chinese = await fetch(new URL("messages.zh.json", import.meta.url))
  .then((answer) => answer.json())
  .catch(() => ({}))
let language = recallOneOf("language", LANGUAGES) ?? (navigator.language.startsWith("zh") ? "zh" : "en")
const listeners = []
const inHtml = [...document.querySelectorAll("[data-t]")].flatMap((element) =>
  (element.dataset.t || "text").split(" ").map((what) => ({
    element,
    what,
    english: what === "text" ? element.textContent : element.getAttribute(what),
  })),
)

export function _(message) {
  return (language === "zh" && chinese[message]) || message
}

// A message with its {fields} filled in.
export function fill(message, values) {
  return message.replace(/\{(\w+)\}/g, (_field, name) => values[name])
}

export function presentLanguage() {
  return language
}

export function onLanguage(listener) {
  listeners.push(listener)
}

export function switchLanguage() {
  language = language === "zh" ? "en" : "zh"
  remember("language", language)
  translate()
}

export function translate() {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en"
  for (const { element, what, english } of inHtml)
    if (what === "text") element.textContent = _(english)
    else element.setAttribute(what, _(english))
  for (const listener of listeners) listener()
}
