import { jsonDepth } from '../kernel/canonical-json.ts'
import { findKeyFault } from '../kernel/json-keys.ts'

export const jsonDepthMax = 32

export type StrictJson = { status: 'ok'; value: unknown } | { status: 'malformed'; problem: string }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** JSON that has one meaning only: valid UTF-8, no duplicate keys, no keys that reach into prototypes, bounded depth. */
export function parseStrictJson(bytes: Uint8Array): StrictJson {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return { status: 'malformed', problem: 'is not valid UTF-8' }
  }
  if (jsonDepth(text) > jsonDepthMax) return { status: 'malformed', problem: `is nested deeper than ${jsonDepthMax}` }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { status: 'malformed', problem: 'is not valid JSON' }
  }
  const problem = findKeyFault(text)
  return problem === undefined ? { status: 'ok', value } : { status: 'malformed', problem }
}
