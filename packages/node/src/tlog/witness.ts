import { type Clock, nowSeconds } from '@assay/till/kernel/clock'
import type { PrivateSigningKey } from '@assay/till/signing'
import { cosign, parseCheckpoint } from './checkpoint.ts'
import { followLogKeys } from './follow-log-keys.ts'
import { emptyRoot } from './merkle.ts'
import { hasLineOf, isLineOf, isSignedBy, type Note, type NoteKey, noteKey, signatureTypes } from './signed-note.ts'
import { verifyConsistency } from './verify-proof.ts'

export type SeenTree = {
  size: number
  root: Buffer
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
  privateKey: PrivateSigningKey
  /** Keys trusted for each origin; another origin is answered 404. */
  logs: { get(origin: string): LogKeys | Promise<LogKeys> }
  /** Operators of these logs, who may name and take back keys; beside those that a trusted key names. */
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
  const key = noteKey(name, signatureTypes.cosignature, Buffer.from(privateKey.x, 'base64url'))
  return {
    key,
    addCheckpoint: async (body) => {
      const request = parseAddCheckpoint(body)
      if (!request) return plain(400, 'not an add-checkpoint request')
      const { oldSize, proof, note, checkpoint } = request
      const trusted = await logs.get(checkpoint.origin)
      if (!trusted) return plain(404, 'this log is not known here')
      const signers = await signersOf(options, checkpoint.origin, trusted, note)
      if (signers.length === 0) return plain(403, 'not signed by a key of this log')
      if (oldSize > checkpoint.size) return plain(400, 'the old size is above the new one')
      return store.change(checkpoint.origin, (seen) => {
        const known: SeenTree = seen ?? { size: 0, root: emptyRoot }
        if (known.size !== oldSize)
          return { answer: { status: 409, contentType: 'text/x.tlog.size', body: `${known.size}\n` } }
        if (oldSize === checkpoint.size && !known.root.equals(checkpoint.root))
          return {
            ...(known.note === undefined
              ? {}
              : { fork: { size: oldSize, first: known.note, second: signedBy(note, signers) } }),
            answer: plain(422, 'another tree of this size was signed before'),
          }
        if (!verifyConsistency(oldSize, checkpoint.size, proof, known.root, checkpoint.root))
          return { answer: plain(422, 'the proof does not show that the log only grew') }
        const line = cosign(note.text, key, privateKey.privateKey, nowSeconds(clock))
        const keep = { size: checkpoint.size, root: checkpoint.root, note: `${signedBy(note, signers)}${line}` }
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

/** Keys in force that signed it: one that was taken back does not count, and a new one counts once the statements lead to it. */
async function signersOf(
  { statementsOf, wallets = [] }: WitnessOptions,
  origin: string,
  trusted: readonly NoteKey[],
  note: Note,
): Promise<readonly NoteKey[]> {
  const among = (keys: readonly NoteKey[]) => {
    const named = keys.filter((key) => hasLineOf(note, key))
    return named.every((key) => isSignedBy(note, key)) ? named : []
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
  const proof = lines.map((line) => Buffer.from(line, 'base64'))
  if (proof.some((hash, index) => hash.length !== 32 || hash.toString('base64') !== lines[index])) return undefined
  const parsed = parseCheckpoint(body.slice(split + 2))
  return parsed && { oldSize: Number(oldText), proof, ...parsed }
}

export function addCheckpointBody(oldSize: number, proof: readonly Buffer[], note: string): string {
  return [`old ${oldSize}`, ...proof.map((hash) => hash.toString('base64')), '', note].join('\n')
}
