// Check the JSON on standard input, {text, markdown, api_url}, with gramma and print what it says.
const gramma = require("gramma")

let input = ""
process.stdin.on("data", (piece) => (input += piece))
process.stdin.on("end", async () => {
  const { text, markdown, api_url } = JSON.parse(input)
  const { matches } = await gramma.check(text, { api_url, language: "zh-CN", markdown })
  // gramma's own replacement works on the text's UTF-16 units, as JavaScript strings are.
  const corrected = gramma.replaceAll(
    text,
    matches.map(({ offset, length, replacements }) => ({ offset, length, change: replacements[0].value })),
  )
  console.log(JSON.stringify({ matches, corrected }))
})
