const closings = new Set<() => Promise<unknown>>()
let listening = false

/** Ctrl-C and a time limit must not leave servers behind. Returns what removes the handler again. */
export function closeOnSignal(close: () => Promise<unknown>): () => void {
  closings.add(close)
  if (!listening) {
    listening = true
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, endEverything)
  }
  return () => closings.delete(close)
}

async function endEverything(): Promise<void> {
  for (const close of closings) await close().catch(() => {})
  process.exit(130)
}
