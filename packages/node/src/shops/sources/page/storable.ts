/**
 * The database takes neither a NUL nor half a character, and pages give both: a text that was cut in the middle of a
 * character, an escape in JSON-LD. One of them would keep everything that is stored together with it from being stored.
 */
export function storable<T>(value: T): T {
  if (typeof value === 'string') return value.replaceAll('\u0000', '').toWellFormed() as T
  if (Array.isArray(value)) return value.map((item) => storable(item)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, storable(member)])) as T
}

export const isStorable = (text: string): boolean => storable(text) === text
