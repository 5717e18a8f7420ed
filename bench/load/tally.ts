import { percentiles } from '../percentiles.ts'
import type { Prepared } from './traffic.ts'

export type KindResult = {
  kind: string
  paying: boolean
  requests: number
  /** Answered as asked: 200, or 402 to a caller that did not pay. */
  good: number
  p50: number
  p90: number
  p99: number
  p999: number
  max: number
}

export type Outcome = {
  seconds: number
  requests: number
  statuses: Record<string, number>
  kinds: KindResult[]
  all: KindResult
  /** Refusals that did not say when to come back, and answers nobody expected, in words. */
  faults: string[]
  /** Some of those who were asked to come back. */
  refused: string[]
  /** Requests whose connection broke. */
  broken: number
  /** Paid requests, by the status they got; 0 when the connection broke. */
  paid: { nonce: string; status: number }[]
  /** How late the generator itself was, at worst and for one in a hundred. */
  lateMs: { max: number; p99: number }
  connectionsMax: number
}

const retryAfter = Buffer.from('\r\nRetry-After: ')
const faultsMax = 20

/** Counts answers as they come. */
export function createTally() {
  const times = new Map<string, { paying: boolean; requests: number; ms: number[] }>()
  const statuses: Record<string, number> = {}
  const faults: string[] = []
  const refused: string[] = []
  const paid: Outcome['paid'] = []
  const late: number[] = []
  let broken = 0
  let connectionsMax = 0
  const kindOf = ({ kind, paying }: Prepared) => {
    const known = times.get(kind) ?? { paying, requests: 0, ms: [] }
    times.set(kind, known)
    return known
  }
  return {
    sent: (lateMs: number, connections: number) => {
      late.push(lateMs)
      connectionsMax = Math.max(connectionsMax, connections)
    },
    answered: (request: Prepared, status: number, bytes: Buffer, ms: number) => {
      statuses[status] = (statuses[status] ?? 0) + 1
      const kind = kindOf(request)
      kind.requests += 1
      if (request.nonce !== undefined) paid.push({ nonce: request.nonce, status })
      if (status === (request.kind === '402' ? 402 : 200)) {
        kind.ms.push(ms)
        return
      }
      const busy = status === 429 || status === 503
      const fine = busy && bytes.subarray(0, 4_096).includes(retryAfter)
      if (fine && refused.length < 5) refused.push(`${request.kind}: ${status} ${bodyOf(bytes)}`)
      if (!fine && faults.length < faultsMax)
        faults.push(`${request.kind}: ${busy ? 'no Retry-After, ' : ''}${status} ${bodyOf(bytes)}`)
    },
    broke: (request: Prepared, error: Error) => {
      broken += 1
      kindOf(request).requests += 1
      if (request.nonce !== undefined) paid.push({ nonce: request.nonce, status: 0 })
      if (faults.length < faultsMax) faults.push(`${request.kind}: ${error.message}`)
    },
    outcome: (seconds: number): Outcome => {
      const kinds = [...times].map(([kind, { paying, requests, ms }]) => resultOf(kind, paying, requests, ms))
      const every = [...times.values()]
      const requests = every.reduce((sum, one) => sum + one.requests, 0)
      const all = resultOf(
        'all',
        false,
        requests,
        every.flatMap(({ ms }) => ms),
      )
      const lateAt = percentiles(late)
      const lateMs = { max: lateAt(1), p99: lateAt(0.99) }
      return { seconds, requests, statuses, kinds, all, faults, refused, broken, paid, lateMs, connectionsMax }
    },
  }
}

const bodyOf = (bytes: Buffer) => bytes.toString('latin1').split('\r\n\r\n')[1]?.slice(0, 200) ?? ''

function resultOf(kind: string, paying: boolean, requests: number, ms: number[]): KindResult {
  const exactly = percentiles(ms)
  const at = (share: number) => Math.round(exactly(share) * 10) / 10
  return {
    kind,
    paying,
    requests,
    good: ms.length,
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    p999: at(0.999),
    max: at(1),
  }
}
