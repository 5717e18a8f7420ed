import type { TreeState } from './store.ts'

export type LogStop = {
  reason: 'forked' | 'restored' | 'unconfirmed' | 'renamed'
  detail: string
  /** Null where the database does not say. */
  since: Date | null
}

/**
 * Why no tree head may be signed now; undefined when one may. Signing another history under the same name is for ever.
 * `confirmAfter`: since when one of the witnesses must have answered; undefined where there is nobody to ask.
 */
export function reasonNotToSign(tree: TreeState, origin: string, confirmAfter?: Date): LogStop | undefined {
  if (tree.origin !== null && tree.origin !== origin)
    return {
      reason: 'renamed',
      detail: `The log is ${tree.origin} now; this process was started before that.`,
      since: null,
    }
  if (tree.forkReason !== null) return { reason: 'forked', detail: tree.forkReason, since: tree.forkedAt }
  if (tree.restoredAt !== null)
    return {
      reason: 'restored',
      detail: 'The database was restored, and nobody who has seen this log could be asked since.',
      since: tree.restoredAt,
    }
  // Not every restore leaves a trace, and a process that has just started knows nothing of what it signed before.
  if (confirmAfter && (tree.checkedAt === null || tree.checkedAt < confirmAfter))
    return {
      reason: 'unconfirmed',
      detail: 'No witness has answered since this process started, so the log may be behind what it has signed.',
      since: confirmAfter,
    }
  return undefined
}
