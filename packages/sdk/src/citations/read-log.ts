import { toHexDigits } from '@assay/protocol/bytes'
import { parseCheckpoint, witnessedAt } from '@assay/protocol/log/checkpoint'
import { isSignedBy, type NoteKey, parseNoteKey } from '@assay/protocol/log/signed-note'
import { type AnswerOf, ask } from '../call-operation.ts'
import type { AssayClient } from '../client.ts'
import { AssayError } from '../errors.ts'

export type TransparencyLog = AnswerOf<'log.describe'>

/** Where the files of the log are, which keys sign it, who watches it. */
export function readLog(client: AssayClient, node: string): Promise<TransparencyLog> {
  return ask(client, node, 'log.describe', {})
}

export type WitnessedHead = {
  origin: string
  size: number
  /** In hex. */
  root: string
  /** Signed by a key of the log. */
  signed: boolean
  /** Those of the given witnesses that signed it, and when, in unix seconds. */
  witnesses: { name: string; signedAt: number }[]
  /** The signed note as it came, to be kept or shown to a witness. */
  note: string
}

/** The newest tree head. Trust keys that you got some other way: a log that lies would lie about its witnesses too. */
export async function readTreeHead(
  client: AssayClient,
  node: string,
  trusted: { keys: readonly string[]; witnesses?: readonly string[] },
): Promise<WitnessedHead> {
  const { response } = await client.fetch(new URL('/v1/log/checkpoint', node).href)
  return checkTreeHead(await response.text(), trusted)
}

export async function checkTreeHead(
  note: string,
  trusted: { keys: readonly string[]; witnesses?: readonly string[] },
): Promise<WitnessedHead> {
  const head = parseCheckpoint(note)
  if (!head) throw new AssayError('request_failed', { detail: 'not a checkpoint of a log' })
  const keys = keysOf(trusted.keys).filter(({ name }) => name === head.origin)
  const signed = (await Promise.all(keys.map((key) => isSignedBy(head, key)))).includes(true)
  const seen = await Promise.all(
    keysOf(trusted.witnesses ?? []).map(async (key) => ({ name: key.name, signedAt: await witnessedAt(head, key) })),
  )
  return {
    origin: head.origin,
    size: head.size,
    root: toHexDigits(head.root),
    signed,
    witnesses: seen.flatMap(({ name, signedAt }) => (signedAt === undefined ? [] : [{ name, signedAt }])),
    note,
  }
}

const keysOf = (texts: readonly string[]): NoteKey[] => texts.flatMap((text) => parseNoteKey(text) ?? [])
