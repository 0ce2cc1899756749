// The second tab: each character of a sentence, as the model reads it with and without its n-gram masked.

import { element, percent } from "./cards.js"
import { onLanguage, t } from "./language.js"
import { Busy, NeedsKey, Refused, masking } from "./server.js"

const EXAMPLE = "他门今天很高心，一起去吃平果。"

export class Masking {
  constructor(onNeedsKey) {
    this.onNeedsKey = onNeedsKey
    this.at = (id) => document.getElementById(id)
    this.answer = null
    this.chosen = 0
    this.controller = new AbortController()
    this.at("sentence").value = EXAMPLE
    this.at("masking-form").addEventListener("submit", (event) => {
      event.preventDefault()
      this.ask()
    })
    this.at("window").addEventListener("change", () => this.ask())
    this.at("tiles").addEventListener("keydown", (event) => this.key(event))
    onLanguage(() => this.draw())
  }

  async ask() {
    const text = this.at("sentence").value.trim()
    if (!text) return
    this.controller.abort()
    this.controller = new AbortController()
    const window = new FormData(this.at("masking-form")).get("window")
    this.say(t("loading"))
    try {
      this.answer = await masking(text, window, this.controller.signal)
      this.chosen = Math.max(0, this.answer.positions.findIndex(isCorrected))
      this.say("")
    } catch (wrong) {
      if (wrong.name === "AbortError") return
      this.answer = null
      if (wrong instanceof NeedsKey) this.onNeedsKey()
      const reason = wrong instanceof Refused ? wrong.message : wrong instanceof Busy ? t("busy") : t("disconnected")
      this.say(t("failed", { sentence: reason }))
    }
    this.draw()
  }

  // Ask once when the tab is first opened.
  begin() {
    if (!this.answer) this.ask()
  }

  say(sentence) {
    this.at("masking-state").textContent = sentence
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step || !this.answer) return
    event.preventDefault()
    const last = this.answer.positions.length - 1
    this.choose(Math.min(last, Math.max(0, this.chosen + step)))
  }

  choose(index) {
    this.chosen = index
    this.draw()
  }

  draw() {
    this.at("masking-view").hidden = !this.answer
    if (!this.answer) return
    const { positions, attention, trained } = this.answer
    const position = positions[this.chosen]
    const weights = attention?.[this.chosen]
    const strongest = weights ? Math.max(...weights) : 1
    this.at("tiles").replaceChildren(
      ...positions.map((one, index) => {
        const tile = element(
          "button",
          {
            class: "tile",
            role: "option",
            id: `tile-${index}`,
            tabindex: "-1",
            "aria-selected": index === this.chosen,
            onclick: () => this.choose(index),
          },
          one.character,
        )
        const [start, stop] = position.window
        tile.classList.toggle("hidden-one", index >= start && index < stop)
        tile.classList.toggle("doubted", isCorrected(one))
        if (weights) tile.style.setProperty("--weight", (weights[index] / strongest).toFixed(3))
        return tile
      }),
    )
    this.at("tiles").setAttribute("aria-activedescendant", `tile-${this.chosen}`)
    this.at("attention-note").textContent = weights
      ? t(trained ? "attention" : "attentionAtStart", { character: position.character })
      : t("noAttention")
    drawBars(this.at("as-is"), position.as_is, position.character)
    drawBars(this.at("masked"), position.masked, position.character)
    this.at("verdict").textContent = verdict(position)
  }
}

const isCorrected = ({ as_is, character }) => as_is[0].character !== character && !character.startsWith("[")

function verdict({ character, as_is, masked }) {
  const [asIs, hidden] = [as_is[0].character, masked[0].character]
  const { probability } = masked[0]
  if (asIs !== hidden)
    return t(probability < 0.5 ? "unsure" : "fooled", { masked: hidden, asIs, percent: percent(probability) })
  return asIs === character ? t("agrees", { character }) : t("corrects", { character, target: asIs })
}

function drawBars(list, candidates, written) {
  list.replaceChildren(
    ...candidates.map(({ character, probability }) => {
      const bar = element("span", { class: "bar" }, element("span"))
      bar.firstElementChild.style.width = `${100 * probability}%`
      return element(
        "li",
        { class: character === written ? "written" : "" },
        element("b", {}, character),
        bar,
        element("span", { class: "number" }, probability < 0.01 ? "<1%" : percent(probability)),
      )
    }),
  )
}
