import { unpaidCallText } from '@assay/protocol/tool-texts'

/** To a node a call without a payment is a question; here it is a purchase, and a model must know. */
export function sayThatCallsPay<T>(said: T, limits: string): T {
  return mapTexts(said, (text) => text.replaceAll(unpaidCallText, () => `Calling it pays at once, ${limits}.`)) as T
}

/** The same value with each text in it changed; names of members stay. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapTexts(member, change)]))
}
