let overdue: AbortSignal | undefined

/**
 * What was opened is stopped. Where something keeps the process all the same, it is ended: a service manager starts it
 * again only then. The timer itself keeps nothing.
 */
export function endSoon(lingerMs = 5_000): void {
  overdue = AbortSignal.timeout(lingerMs)
  overdue.addEventListener('abort', () => process.exit())
}
