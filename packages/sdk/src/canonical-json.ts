/** JSON as RFC 8785 orders it, so that equal values have equal bytes. Undefined for what JSON cannot say. */
export function canonicalJson(value: unknown): string | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : undefined
  if (Array.isArray(value)) {
    const items = value.map(canonicalJson)
    return items.some((item) => item === undefined) ? undefined : `[${items.join(',')}]`
  }
  if (typeof value !== 'object') return undefined
  const object = value as Record<string, unknown>
  const members: string[] = []
  for (const key of Object.keys(object).sort()) {
    if (object[key] === undefined) continue
    const text = canonicalJson(object[key])
    if (text === undefined) return undefined
    members.push(`${JSON.stringify(key)}:${text}`)
  }
  return `{${members.join(',')}}`
}
