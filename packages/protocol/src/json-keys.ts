const poisonous = new Set(['__proto__', 'constructor', 'prototype'])

/** JSON.parse keeps the last of two equal keys and says nothing; another reader may keep the first. `text` is valid JSON. */
export function findKeyFault(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  let keyNext = false
  for (let i = 0; i < text.length; i += 1) {
    const unit = text[i]
    if (unit === '{' || unit === '[') {
      open.push(unit === '{' ? new Set() : undefined)
      keyNext = unit === '{'
    } else if (unit === '}' || unit === ']') {
      open.pop()
      keyNext = false
    } else if (unit === ',') keyNext = open.at(-1) !== undefined
    else if (unit === '"') {
      const end = endOfString(text, i)
      const keys = open.at(-1)
      if (keyNext && keys) {
        const key = JSON.parse(text.slice(i, end + 1)) as string
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

function endOfString(text: string, start: number): number {
  let i = start + 1
  while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1
  return i
}
