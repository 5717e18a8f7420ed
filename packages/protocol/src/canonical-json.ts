import { endOfString } from './json-keys.ts'

/** JSON as RFC 8785 orders it (keys sorted by UTF-16 unit), so that equal values have equal bytes. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined }

export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('JSON has no such number')
    return JSON.stringify(value)
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item as Json)).join(',')}]`
  const object = value as { readonly [key: string]: Json | undefined }
  let members = ''
  for (const key of Object.keys(object).sort()) {
    const member = object[key]
    if (member !== undefined) members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`
  }
  return `{${members}}`
}

/** The same for values from outside. Undefined for what JSON cannot say, such as 1e999. */
export function tryCanonicalJson(value: unknown): string | undefined {
  try {
    return canonicalJson(value as Json)
  } catch {
    return undefined
  }
}

/** Greatest nesting of arrays and objects in JSON text, found without parsing it (a deep bomb must not be parsed). */
export function jsonDepth(text: string): number {
  let depth = 0
  let deepest = 0
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit === 34) i = endOfString(text, i)
    else if (unit === 91 || unit === 123) {
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (unit === 93 || unit === 125) depth -= 1
  }
  return deepest
}
