import { type Clock, nowSeconds } from '@assay/till/kernel/clock'
import type { PrivateSigningKey } from '@assay/till/signing'
import { cosign, parseCheckpoint } from './checkpoint.ts'
import { emptyRoot } from './merkle.ts'
import { isSignedBy, type NoteKey, noteKey, signatureTypes } from './signed-note.ts'
import { verifyConsistency } from './verify-proof.ts'

export type SeenTree = { size: number; root: Buffer }
export type WitnessAnswer = { status: number; contentType: string; body: string }

/** Look and change are one step: two requests at once must not roll the tree back. Kept before the answer is given. */
export type WitnessStore = {
  change(
    origin: string,
    decide: (seen: SeenTree | undefined) => { keep?: SeenTree; answer: WitnessAnswer },
  ): Promise<WitnessAnswer>
}

export type Witness = { key: NoteKey; addCheckpoint(body: string): Promise<WitnessAnswer> }

export type WitnessOptions = {
  name: string
  privateKey: PrivateSigningKey
  /** Keys trusted for each origin; another origin is answered 404. */
  logs: ReadonlyMap<string, readonly NoteKey[]>
  store: WitnessStore
  clock: Clock
}

const plain = (status: number, body = ''): WitnessAnswer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: body === '' ? '' : `${body}\n`,
})

/** C2SP tlog-witness: signs a tree head once it has been shown that the log only grew since the last one. */
export function createWitness({ name, privateKey, logs, store, clock }: WitnessOptions): Witness {
  const key = noteKey(name, signatureTypes.cosignature, Buffer.from(privateKey.x, 'base64url'))
  return {
    key,
    addCheckpoint: async (body) => {
      const request = parseAddCheckpoint(body)
      if (!request) return plain(400, 'not an add-checkpoint request')
      const { oldSize, proof, note, checkpoint } = request
      const trusted = logs.get(checkpoint.origin)
      if (!trusted) return plain(404, 'this log is not known here')
      if (!trusted.some((one) => isSignedBy(note, one))) return plain(403, 'not signed by a key of this log')
      if (oldSize > checkpoint.size) return plain(400, 'the old size is above the new one')
      return store.change(checkpoint.origin, (seen) => {
        const known = seen ?? { size: 0, root: emptyRoot }
        if (known.size !== oldSize)
          return { answer: { status: 409, contentType: 'text/x.tlog.size', body: `${known.size}\n` } }
        if (oldSize === checkpoint.size && !known.root.equals(checkpoint.root))
          return { answer: plain(409, 'another tree of this size was signed before') }
        if (!verifyConsistency(oldSize, checkpoint.size, proof, known.root, checkpoint.root))
          return { answer: plain(422, 'the proof does not show that the log only grew') }
        const line = cosign(note.text, key, privateKey.privateKey, nowSeconds(clock))
        return { keep: { size: checkpoint.size, root: checkpoint.root }, answer: plain(200, line.trimEnd()) }
      })
    },
  }
}

const bodyCharactersMax = 20_000
const proofLinesMax = 63

export function parseAddCheckpoint(body: string) {
  if (body.length > bodyCharactersMax) return undefined
  const split = body.indexOf('\n\n')
  if (split < 0) return undefined
  const [first = '', ...lines] = body.slice(0, split).split('\n')
  const [, oldText] = /^old (0|[1-9][0-9]{0,15})$/.exec(first) ?? []
  if (oldText === undefined || lines.length > proofLinesMax) return undefined
  const proof = lines.map((line) => Buffer.from(line, 'base64'))
  if (proof.some((hash, index) => hash.length !== 32 || hash.toString('base64') !== lines[index])) return undefined
  const parsed = parseCheckpoint(body.slice(split + 2))
  return parsed && { oldSize: Number(oldText), proof, ...parsed }
}

export function addCheckpointBody(oldSize: number, proof: readonly Buffer[], note: string): string {
  return [`old ${oldSize}`, ...proof.map((hash) => hash.toString('base64')), '', note].join('\n')
}
