import type { TreeState } from './store.ts'

export type LogStop = { reason: 'forked' | 'restored' | 'renamed'; detail: string }

/** Why no tree head may be signed now; undefined when one may. Signing another history under the same name is for ever. */
export function reasonNotToSign(tree: TreeState, origin: string): LogStop | undefined {
  if (tree.origin !== null && tree.origin !== origin)
    return { reason: 'renamed', detail: `The log is ${tree.origin} now; this process was started before that.` }
  if (tree.forkReason !== null) return { reason: 'forked', detail: tree.forkReason }
  if (tree.unchecked)
    return {
      reason: 'restored',
      detail: 'The database was restored, and nobody who has seen this log could be asked since.',
    }
  return undefined
}
