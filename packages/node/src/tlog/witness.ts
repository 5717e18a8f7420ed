import { fromBase64, toBase64 } from '@assay/protocol/base64'
import { sameBytes } from '@assay/protocol/bytes'
import { parseCheckpoint } from '@assay/protocol/log/checkpoint'
import {
  hasLineOf,
  isLineOf,
  isSignedBy,
  type Note,
  type NoteKey,
  noteKey,
  signatureTypes,
} from '@assay/protocol/log/signed-note'
import { verifyConsistency } from '@assay/protocol/log/verify-proof'
import { type Clock, nowSeconds } from '@assay/till/kernel/clock'
import type { LocalSigningKey } from '@assay/till/signing'
import { followLogKeys } from './follow-log-keys.ts'
import { cosign } from './sign-note.ts'
import { emptyRoot } from './tree-hash.ts'

export type SeenTree = {
  size: number
  root: Uint8Array
  /** The signed head with the cosignature that was given for it. */
  note?: string | undefined
}
export type WitnessAnswer = { status: number; contentType: string; body: string }

export type WitnessDecision = {
  keep?: SeenTree
  /** Two signed heads of one size: proof that the log shows different trees. */
  fork?: { size: number; first: string; second: string }
  answer: WitnessAnswer
}

/** Check and update are atomic for each origin: two requests at once must not roll the tree back. Stored before the answer is given. */
export type WitnessStore = {
  change(origin: string, decide: (seen: SeenTree | undefined) => WitnessDecision): Promise<WitnessAnswer>
}

export type Witness = { key: NoteKey; addCheckpoint(body: string): Promise<WitnessAnswer> }

type LogKeys = readonly NoteKey[] | undefined

export type WitnessOptions = {
  name: string
  privateKey: LocalSigningKey
  /** Keys trusted for each origin; another origin is answered 404. */
  logs: { get(origin: string): LogKeys | Promise<LogKeys> }
  /** Operators of these logs, who may name and revoke keys; beside those that a trusted key names. */
  wallets?: readonly string[]
  /** What the log says about its keys, newly read when `fresh`; keys that follow from the trusted ones count as these. */
  statementsOf?(origin: string, fresh: boolean): Promise<readonly unknown[]>
  store: WitnessStore
  clock: Clock
}

const plain = (status: number, body = ''): WitnessAnswer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: body === '' ? '' : `${body}\n`,
})

/** C2SP tlog-witness: signs a tree head once it has been shown that the log only grew since the last one. */
export function createWitness(options: WitnessOptions): Witness {
  const { name, privateKey, logs, store, clock } = options
  const key = noteKey(name, signatureTypes.cosignature, privateKey.x)
  return {
    key,
    addCheckpoint: async (body) => {
      const request = parseAddCheckpoint(body)
      if (!request) return plain(400, 'not an add-checkpoint request')
      const { oldSize, proof, head } = request
      const trusted = await logs.get(head.origin)
      if (!trusted) return plain(404, 'this log is not known here')
      const signers = await signersOf(options, head.origin, trusted, head)
      if (signers.length === 0) return plain(403, 'not signed by a key of this log')
      if (oldSize > head.size) return plain(400, 'the old size is above the new one')
      return store.change(head.origin, (seen) => {
        const known: SeenTree = seen ?? { size: 0, root: emptyRoot }
        if (known.size !== oldSize)
          return { answer: { status: 409, contentType: 'text/x.tlog.size', body: `${known.size}\n` } }
        if (oldSize === head.size && !sameBytes(known.root, head.root))
          return {
            ...(known.note === undefined
              ? {}
              : { fork: { size: oldSize, first: known.note, second: signedBy(head, signers) } }),
            answer: plain(422, 'another tree of this size was signed before'),
          }
        if (!verifyConsistency(oldSize, head.size, proof, known.root, head.root))
          return { answer: plain(422, 'the proof does not show that the log only grew') }
        const line = cosign(head.text, key, privateKey.privateKey, nowSeconds(clock))
        const keep = { size: head.size, root: head.root, note: `${signedBy(head, signers)}${line}` }
        return { keep, answer: plain(200, line.trimEnd()) }
      })
    },
  }
}

/** The note with the signatures of these keys only. */
const signedBy = (note: Note, keys: readonly NoteKey[]) =>
  `${note.text}\n${note.signatures
    .filter((one) => keys.some((key) => isLineOf(one, key)))
    .map(({ line }) => line)
    .join('')}`

/** Keys in force that signed it: one that was revoked does not count, and a new one counts once the statements lead to it. */
async function signersOf(
  { statementsOf, wallets = [] }: WitnessOptions,
  origin: string,
  trusted: readonly NoteKey[],
  note: Note,
): Promise<readonly NoteKey[]> {
  const among = async (keys: readonly NoteKey[]) => {
    const named = keys.filter((key) => hasLineOf(note, key))
    const signed = await Promise.all(named.map((key) => isSignedBy(note, key)))
    return signed.every(Boolean) ? named : []
  }
  if (!statementsOf) return among(trusted)
  const now = async (fresh: boolean) =>
    among(await followLogKeys(origin, { keys: trusted, wallets }, await statementsOf(origin, fresh)))
  const signers = await now(false)
  return signers.length > 0 ? signers : now(true)
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
  const proof = lines.flatMap((line) => fromBase64(line) ?? [])
  if (proof.length !== lines.length || proof.some((hash) => hash.length !== 32)) return undefined
  const head = parseCheckpoint(body.slice(split + 2))
  return head && { oldSize: Number(oldText), proof, head }
}

export function addCheckpointBody(oldSize: number, proof: readonly Uint8Array[], note: string): string {
  return [`old ${oldSize}`, ...proof.map(toBase64), '', note].join('\n')
}
