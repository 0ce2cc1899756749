// The kinds of findings. Each has a colour and a line of its own in style.css, and a character to know it by without them.

import { _ } from "./language.js"

// By reasons, which the server names in words.
const KINDS = {
  same_sound: { kind: "sound", sign: "音" },
  similar_sound: { kind: "sound", sign: "音" },
  similar_shape: { kind: "shape", sign: "形" },
  de: { kind: "de", sign: "的" },
  rule: { kind: "rule", sign: "规" },
  user_list: { kind: "rule", sign: "词" },
  missing: { kind: "length", sign: "漏" },
  extra: { kind: "length", sign: "多" },
  swapped: { kind: "length", sign: "倒" },
  context: { kind: "context", sign: "义" },
}

const LOW_CONFIDENCE = 0.8

export const LEGEND = [
  { ...KINDS.same_sound, name: () => _("Sound") },
  { ...KINDS.similar_shape, name: () => _("Shape") },
  { ...KINDS.de, name: () => _("的, 地, 得") },
  { ...KINDS.missing, name: () => _("Missing or extra") },
  { ...KINDS.context, name: () => _("Context") },
  { ...KINDS.rule, name: () => _("Rule") },
]

export const kindOf = ({ reason }) => KINDS[reason] ?? KINDS.context

export const isDoubtful = ({ confidence }) => confidence < LOW_CONFIDENCE

// What only a person can judge: there is nothing to accept.
export const isHint = ({ target }) => target === null

// What may be accepted unseen; another person's words are changed one by one.
export const isForAll = (finding) => !isHint(finding) && !finding.byAnother
