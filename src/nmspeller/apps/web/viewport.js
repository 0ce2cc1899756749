// What can be seen of the page: a phone's keyboard covers its lower part, and the small window over a word covers some of the rest.

const MARGIN = 12
const narrow = matchMedia("(max-width: 720px)") // as in style.css

export const isNarrow = () => narrow.matches

const seen = () => ({ top: visualViewport.offsetTop, bottom: visualViewport.offsetTop + visualViewport.height })

// Tell the style sheet how high the keyboard is, and whoever has something open that the view has changed.
export function onView(listener) {
  const changed = () => {
    const height = Math.max(0, Math.round(innerHeight - seen().bottom))
    document.documentElement.style.setProperty("--keyboard", `${height}px`)
    listener()
  }
  visualViewport.addEventListener("resize", changed)
  visualViewport.addEventListener("scroll", changed)
}

// How far the page has to scroll so that what lies from `top` to `bottom` can be seen above `cover`, a box at the lower edge.
export function wayIntoView({ top, bottom }, cover) {
  const view = seen()
  const lowest = Math.min(view.bottom, cover ? cover.top : Infinity) - MARGIN
  if (bottom > lowest) return bottom - lowest
  return Math.min(0, top - view.top - MARGIN)
}
