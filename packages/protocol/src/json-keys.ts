const poisonous = new Set(['__proto__', 'constructor', 'prototype'])

const [quote, comma, backslash] = [34, 44, 92]
const [openBracket, closeBracket, openBrace, closeBrace] = [91, 93, 123, 125]

/** JSON.parse keeps the last of two equal keys and says nothing; another reader may keep the first. `text` is valid JSON. */
export function findKeyFault(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  let keyNext = false
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit === openBrace || unit === openBracket) {
      open.push(unit === openBrace ? new Set() : undefined)
      keyNext = unit === openBrace
    } else if (unit === closeBrace || unit === closeBracket) {
      open.pop()
      keyNext = false
    } else if (unit === comma) keyNext = open.at(-1) !== undefined
    else if (unit === quote) {
      const end = endOfString(text, i)
      const keys = open.at(-1)
      if (keyNext && keys) {
        const raw = text.slice(i + 1, end)
        const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
        if (poisonous.has(key)) return `may not have the key ${key}`
        if (keys.has(key)) return `has the key ${JSON.stringify(key.slice(0, 64))} twice`
        keys.add(key)
      }
      keyNext = false
      i = end
    }
  }
  return undefined
}

/** Index of the quote that ends the string begun at `start`; the length of the text where none does. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

/** Whether an odd number of backslashes is before it. */
function isEscaped(text: string, index: number): boolean {
  let before = index
  while (text.charCodeAt(before - 1) === backslash) before -= 1
  return (index - before) % 2 === 1
}
