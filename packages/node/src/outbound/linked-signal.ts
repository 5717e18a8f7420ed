/** For ends that nobody reads the reason of: without one, every abort would make an exception with its stack. */
export const ended = Symbol('ended')

/**
 * A signal that follows others for as long as it is needed. `AbortSignal.any` would do, but keeps what it made alive
 * with its sources, and a crawler asks thousands of times under one signal.
 */
export function linkSignals(parents: readonly (AbortSignal | undefined)[]): {
  signal: AbortSignal
  abort(reason: unknown): void
  release(): void
} {
  const own = new AbortController()
  const undo: (() => void)[] = []
  for (const parent of parents) {
    if (!parent) continue
    if (parent.aborted) own.abort(parent.reason)
    const follow = () => own.abort(parent.reason)
    parent.addEventListener('abort', follow, { once: true })
    undo.push(() => parent.removeEventListener('abort', follow))
  }
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    release: () => {
      for (const one of undo.splice(0)) one()
    },
  }
}
