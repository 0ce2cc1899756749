// The API's own description, read from openapi.json and laid out for people.

import { element } from "./element.js"
import { _, onLanguage, presentLanguage, switchLanguage, translate } from "./language.js"
import { recallOneOf } from "./memory.js"

const dark = matchMedia("(prefers-color-scheme: dark)").matches
document.documentElement.dataset.theme = recallOneOf("theme", ["light", "dark"]) ?? (dark ? "dark" : "light")
let api
const find = (schema) => (schema?.$ref ? api.components.schemas[schema.$ref.split("/").at(-1)] : schema)

document.getElementById("language").addEventListener("click", switchLanguage)
onLanguage(draw)
translate()

// The server describes itself in the language that it is asked in.
async function draw() {
  api = await (await fetch("openapi.json", { headers: { "Accept-Language": presentLanguage() } })).json()
  document.getElementById("operations").replaceChildren(
    element("section", { class: "lesson" }, element("h2", {}, `${api.info.title} ${api.info.version}`), prose(api.info.description)),
    ...Object.entries(api.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => describe(method, path, operation)),
    ),
  )
}

function describe(method, path, operation) {
  const [kind, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  const schema = find(body?.schema)
  const example = body?.example ?? schema?.examples?.[0]
  const fields = operation.parameters?.map((one) => [one.name, one.description]) ??
    Object.entries(schema?.properties ?? {}).map(([name, one]) => [name, one.description])
  const answer = find(operation.responses["200"]?.content?.["application/json"]?.schema)
  return element(
    "section",
    { class: "lesson" },
    element("h2", {}, element("span", { class: "method" }, method.toUpperCase()), element("span", { class: "path" }, path), operation.summary),
    prose(operation.description),
    ...table(_("Fields"), fields),
    ...(example ? [element("h3", {}, _("Example")), element("pre", {}, curl(path, kind, example))] : []),
    ...table(_("Answer"), outline(answer)),
    ...table(_("Errors"), Object.entries(operation.responses).filter(([status]) => status !== "200").map(([status, one]) => [status, one.description])),
  )
}

// The fields of an answer, those of what it holds indented by a dot.
function outline(schema, prefix = "", depth = 0) {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, one]) => {
    const inner = find(one.items ?? one)
    return [[prefix + name, one.description ?? inner.description ?? ""], ...(depth < 3 ? outline(inner, `${prefix}${name}.`, depth + 1) : [])]
  })
}

function table(title, rows = []) {
  if (!rows.length) return []
  const lines = rows.map(([name, text]) => element("tr", {}, element("td", {}, element("code", {}, name)), element("td", {}, ...inline(text ?? ""))))
  return [element("h3", {}, title), element("table", {}, element("tbody", {}, ...lines))]
}

function prose(text) {
  return element("p", {}, ...inline(text.replace(/([^\n])\n(?!\n)/g, "$1 ").trim()))
}

function inline(text) {
  return text.split("`").map((part, index) => (index % 2 ? element("code", {}, part) : part))
}

function curl(path, kind, example) {
  const address = `${location.origin}${path}`
  if (kind === "application/json") return `curl ${address} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(example)}'`
  return [`curl ${address}`, ...Object.entries(example).map(([name, value]) => `--data-urlencode '${name}=${value}'`)].join(" \\\n  ")
}
