import { parseNoteKey } from '@assay/protocol/log/signed-note'
import { followLogKeys } from '../follow-log-keys.ts'

/**
 * The keys that may sign a log by now, starting from the pinned ones: a successor counts when a key that is trusted, or the
 * operator's wallet that such a key names, signed the statement about it. A head under any other key is an alarm.
 */
export async function followKeys(
  origin: string,
  pinned: readonly string[],
  statements: unknown,
): Promise<readonly string[]> {
  if (!Array.isArray(statements) || statements.length === 0) return pinned
  const keys = pinned.flatMap((vkey) => parseNoteKey(vkey) ?? [])
  return (await followLogKeys(origin, { keys }, statements.slice(0, statementsMax))).map(({ vkey }) => vkey)
}

const statementsMax = 1_000
