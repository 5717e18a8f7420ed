import { jsonDepth } from './canonical-json.ts'
import { findKeyFault } from './json-keys.ts'
import { findTextFaultIn } from './plain-text.ts'

export const jsonDepthMax = 32

export type StrictJson = { status: 'ok'; value: unknown } | { status: 'malformed'; problem: string }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * JSON that has one meaning only: valid UTF-8, no duplicate keys, no keys that reach into prototypes, bounded depth, and
 * no text that a database could not store.
 */
export function parseStrictJson(bytes: Uint8Array, depthMax = jsonDepthMax): StrictJson {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return { status: 'malformed', problem: 'is not valid UTF-8' }
  }
  if (jsonDepth(text) > depthMax) return { status: 'malformed', problem: `is nested deeper than ${depthMax}` }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { status: 'malformed', problem: 'is not valid JSON' }
  }
  // Only an escape can bring NUL or half of a surrogate pair into valid JSON.
  const problem = findKeyFault(text) ?? (text.includes('\\u') ? findTextFaultIn(value) : undefined)
  return problem === undefined ? { status: 'ok', value } : { status: 'malformed', problem }
}
