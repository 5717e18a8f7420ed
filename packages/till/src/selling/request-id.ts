import type { Ids } from '../kernel/ids.ts'

const sane = /^[A-Za-z0-9._-]{8,64}$/

/** A caller's own id is kept when it is harmless to log and to echo. */
export function createRequestIds(ids: Ids): (incoming: string | undefined) => string {
  // Request ids name log lines and guard nothing, so a counter under one random prefix is enough and costs no randomness per request.
  const prefix = ids.next('req')
  let count = 0
  return (incoming) => {
    if (incoming !== undefined && sane.test(incoming)) return incoming
    count += 1
    return `${prefix}-${count.toString(36)}`
  }
}
