import type { WitnessPeer } from './collect-cosignatures.ts'
import { type NoteKey, parseNoteKey } from './signed-note.ts'

const answerBytesMax = 10_000

/** A witness at an address that the operator configured. */
export function httpWitness(url: string, key: NoteKey): WitnessPeer {
  return {
    key,
    addCheckpoint: async (body) => {
      const response = await fetch(new URL('add-checkpoint', url.endsWith('/') ? url : `${url}/`), {
        method: 'POST',
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(5_000),
      })
      const text = (await response.text()).slice(0, answerBytesMax)
      return { status: response.status, contentType: response.headers.get('content-type') ?? '', body: text }
    },
  }
}

/** From the members `url` and `key` of the configuration. */
export function configuredWitness(given: { url: string; key: string }): WitnessPeer {
  const key = parseNoteKey(given.key)
  if (!key) throw new RangeError(`CITATIONS: not the key of a witness: ${given.key}`)
  return httpWitness(given.url, key)
}
