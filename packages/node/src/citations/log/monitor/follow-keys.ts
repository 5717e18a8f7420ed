/**
 * The keys that may sign a log by now, starting from the pinned ones. A statement counts when a key that is already
 * trusted signed it. Statements of this version are not understood yet, so no other key is trusted: a head under an
 * unknown key is an alarm.
 */
export function followKeys(pinned: readonly string[], _statements: unknown): readonly string[] {
  return pinned
}
