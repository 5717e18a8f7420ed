import { type NoteKey, parseNoteKey } from '@assay/protocol/log/signed-note'
import { readLimited } from '@assay/protocol/read-limited'
import type { WitnessPeer } from './collect-cosignatures.ts'
import { originHash } from './witness-store.ts'

const answerBytesMax = 20_000

async function textOf(response: Response): Promise<string> {
  const bytes = await readLimited(response.body, answerBytesMax)
  if (bytes === 'too_large') throw new Error('the answer is too large')
  return Buffer.from(bytes).toString('utf8')
}

/** A witness at an address that the operator configured. */
export function httpWitness(url: string, key: NoteKey): WitnessPeer {
  const at = (path: string) => new URL(path, url.endsWith('/') ? url : `${url}/`)
  return {
    key,
    readHead: async (origin) => {
      const response = await fetch(at(`${originHash(origin)}/checkpoint`), {
        redirect: 'error',
        signal: AbortSignal.timeout(5_000),
      })
      return response.status === 200 ? textOf(response) : undefined
    },
    addCheckpoint: async (body) => {
      const response = await fetch(at('add-checkpoint'), {
        method: 'POST',
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(5_000),
      })
      const contentType = response.headers.get('content-type') ?? ''
      return { status: response.status, contentType, body: await textOf(response) }
    },
  }
}

/** From the members `url` and `key` of the configuration. */
export function configuredWitness(given: { url: string; key: string }): WitnessPeer {
  const key = parseNoteKey(given.key)
  if (!key) throw new RangeError(`TLOG: not the key of a witness: ${given.key}`)
  return httpWitness(given.url, key)
}
