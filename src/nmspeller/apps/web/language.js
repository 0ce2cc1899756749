// The interface in Chinese and English.

import { recallOneOf, remember } from "./memory.js"

const WORDS = {
  zh: {
    skip: "跳到编辑框",
    tagline: "懂上下文的中文校对",
    otherLanguage: "English",
    switchLanguage: "Switch the interface to English",
    theme: "切换深色与浅色",
    tools: "工具",
    level: "校对力度",
    careful: "谨慎",
    balanced: "均衡",
    thorough: "细致",
    carefulHint: "只改很有把握的错字",
    balancedHint: "日常写作的默认力度",
    thoroughHint: "尽量多找，可能有误报",
    words: "词表",
    wordsWhat: "这里的人名、术语不会被改动。词表只保存在这个浏览器里。",
    newWord: "新词",
    add: "添加",
    done: "完成",
    remove: "删除“{word}”",
    undo: "撤销",
    undoHint: "撤销（Ctrl+Z）",
    copy: "复制",
    copied: "已复制",
    acceptAll: "全部采纳",
    acceptCount: "全部采纳（{count}）",
    placeholder: "在这里输入或粘贴中文……",
    editor: "要校对的文字",
    keys: "Alt+↓ / Alt+↑ 跳到下一处或上一处建议，Enter 采纳，Esc 返回编辑。",
    findings: "建议",
    emptyStart: "边写边查，错字会标上波浪线。",
    emptyClean: "没有发现错字。",
    tryExample: "试试示例",
    alternatives: "备选字",
    ignore: "忽略",
    accept: "采纳",
    protect: "加入词表",
    sure: "把握 {percent}",
    more: "还有 {count} 处，改完上面的就会显示。",
    length: "{count} 字",
    checking: "正在检查……",
    checked: "已检查",
    ready: "就绪",
    found: "已检查，{count} 处建议",
    offline: "连不上服务器，正在重试。文字都还在。",
    busy: "服务器正忙，稍后自动继续。",
    refused: "服务器不接受：{sentence}",
    needsKey: "需要访问密钥。",
    giveKey: "输入密钥",
    keyTitle: "访问密钥",
    keyWhat: "这台服务器设置了访问密钥。密钥只保留到关闭标签页为止。",
    cancel: "取消",
    save: "确定",
    privacy: "文字只发送到这台服务器，不会保存。",
    docs: "接口文档",
    "same sound": "读音相同",
    "similar sound": "读音相近",
    "similar shape": "字形相近",
    "的地得": "“的、地、得”用法",
    "word of the user's list": "自定义词语",
    rule: "规则",
    context: "与上下文不符",
    disconnected: "连不上服务器",
  },
  en: {
    skip: "Skip to the editor",
    tagline: "Chinese proofreading that reads the context",
    otherLanguage: "中文",
    switchLanguage: "把界面换成中文",
    theme: "Dark or light",
    tools: "Tools",
    level: "How much to correct",
    careful: "Careful",
    balanced: "Balanced",
    thorough: "Thorough",
    carefulHint: "Only what is nearly certain",
    balancedHint: "For everyday writing",
    thoroughHint: "Finds most, and is wrong more often",
    words: "My words",
    wordsWhat: "Names and terms that are left alone. The list stays in this browser.",
    newWord: "New word",
    add: "Add",
    done: "Done",
    remove: "Remove “{word}”",
    undo: "Undo",
    undoHint: "Undo (Ctrl+Z)",
    copy: "Copy",
    copied: "Copied",
    acceptAll: "Accept all",
    acceptCount: "Accept all ({count})",
    placeholder: "Type or paste Chinese here …",
    editor: "The text to check",
    keys: "Alt+↓ / Alt+↑ go to the next or previous suggestion, Enter accepts, Esc returns to the text.",
    findings: "Suggestions",
    emptyStart: "Errors are underlined as you write.",
    emptyClean: "No errors found.",
    tryExample: "Try an example",
    alternatives: "Alternatives",
    ignore: "Ignore",
    accept: "Accept",
    protect: "Add to my words",
    sure: "{percent} sure",
    more: "{count} more appear when these are done.",
    length: "{count} characters",
    checking: "Checking …",
    checked: "Checked",
    ready: "Ready",
    found: "Checked, {count} suggestions",
    offline: "The server cannot be reached; trying again. Your text is safe.",
    busy: "The server is busy; this goes on by itself.",
    refused: "The server refused: {sentence}",
    needsKey: "An access key is needed.",
    giveKey: "Enter the key",
    keyTitle: "Access key",
    keyWhat: "This server asks for a key. It is kept until this tab is closed.",
    cancel: "Cancel",
    save: "OK",
    privacy: "Text goes to this server only, and is not kept.",
    docs: "API documentation",
    "same sound": "same sound",
    "similar sound": "similar sound",
    "similar shape": "similar shape",
    "的地得": "的, 地 or 得",
    "word of the user's list": "your own word",
    rule: "rule",
    context: "does not fit the context",
    disconnected: "the server cannot be reached",
  },
}

let language = recallOneOf("language", Object.keys(WORDS)) ?? (navigator.language.startsWith("zh") ? "zh" : "en")
const listeners = []

export function t(key, values = {}) {
  return (WORDS[language][key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name])
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
  for (const element of document.querySelectorAll("[data-i18n]")) element.textContent = t(element.dataset.i18n)
  for (const [attribute, name] of [["i18nLabel", "aria-label"], ["i18nTitle", "title"], ["i18nPlaceholder", "placeholder"]])
    for (const element of document.querySelectorAll(`[data-${attribute.replace(/[A-Z]/g, (c) => "-" + c.toLowerCase())}]`))
      element.setAttribute(name, t(element.dataset[attribute]))
  for (const listener of listeners) listener()
}
