// With the flag, half of a surrogate pair is matched and a whole one is not.
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is exactly what is refused
const unusable = /[\u0000\p{Surrogate}]/u

/** What is wrong with a text that no database column and no UTF-8 can hold; undefined for every other text. */
export function findTextFault(text: string): string | undefined {
  return unusable.test(text) ? 'contains NUL or half of a surrogate pair' : undefined
}

/** The same for every text and key inside a parsed JSON value. */
export function findTextFaultIn(value: unknown): string | undefined {
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string') {
      const fault = findTextFault(next)
      if (fault !== undefined) return fault
    } else if (Array.isArray(next)) for (const item of next) open.push(item)
    else if (typeof next === 'object' && next !== null)
      for (const [key, inner] of Object.entries(next)) open.push(key, inner)
  }
  return undefined
}
