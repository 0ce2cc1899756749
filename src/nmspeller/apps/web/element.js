// Elements with their attributes and content, in one call.

const SVG = "http://www.w3.org/2000/svg"

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes))
    if (attribute.startsWith("on")) made.addEventListener(attribute.slice(2), value)
    else if (value !== undefined && value !== false) made.setAttribute(attribute, value === true ? "" : value)
  made.append(...children)
  return made
}

// One of the symbols of index.html.
export function icon(name) {
  const made = document.createElementNS(SVG, "svg")
  made.setAttribute("class", "icon")
  made.setAttribute("aria-hidden", "true")
  const use = document.createElementNS(SVG, "use")
  use.setAttribute("href", `#${name}`)
  made.append(use)
  return made
}
