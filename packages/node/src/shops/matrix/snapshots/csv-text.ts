const kept = new Map<string, string>()
const keptMax = 20_000

/** One cell. Sources, dates and licences come again and again, so how a text is written is remembered. */
export function csvText(value: unknown): string {
  if (typeof value === 'number') return Number.isNaN(value) ? '' : String(value)
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  const known = kept.get(value)
  if (known !== undefined) return known
  const made = quoted(value)
  if (kept.size >= keptMax) kept.clear()
  kept.set(value, made)
  return made
}

/** A cell that a spreadsheet would read as a formula is made text. */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
