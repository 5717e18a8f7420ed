// The buyers: mixed traffic of all shops in closed and open loop.
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { benchPayer } from './sign-payments.ts'
import { openSocketPool } from './socket-pool.ts'
import { createTally, type Outcome } from './tally.ts'
import { creditWallets, type Facts, openTraffic, type Prepared, type Traffic } from './traffic.ts'

let port = 0
let traffic: Traffic | undefined

const next = (): Promise<Prepared> => {
  if (!traffic) throw new Error('not opened')
  return traffic.next()
}

/** Every connection sends its next request when it has the answer to its last one: what the server can do. */
async function closedLoop({ connections, seconds }: { connections: number; seconds: number }): Promise<Outcome> {
  const pool = openSocketPool(port)
  const tally = createTally()
  const startedMs = performance.now()
  const worker = async () => {
    while (performance.now() - startedMs < seconds * 1000) {
      const request = await next()
      const sentMs = performance.now()
      await pool.send(request.bytes).then(
        ({ status, bytes }) => tally.answered(request, status, bytes, performance.now() - sentMs),
        (error: Error) => tally.broke(request, error),
      )
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  pool.close()
  return tally.outcome((performance.now() - startedMs) / 1000)
}

type OpenPlan = { perSecond: number; seconds: number; signBefore: boolean }

/**
 * Requests come when they come, whether or not earlier ones were answered. Time is counted from the moment a request was
 * due: a server that stops makes everyone wait who comes meanwhile, and all of them are counted.
 */
async function openLoop({ perSecond, seconds, signBefore }: OpenPlan): Promise<Outcome> {
  const pool = openSocketPool(port)
  const tally = createTally()
  const count = Math.round(perSecond * seconds)
  const dueMs = arrivals(perSecond, count)
  const signed: Prepared[] = []
  // Signing for several times the capacity would take the cores away from the server that is measured.
  if (signBefore) for (let index = 0; index < count; index += 1) signed.push(await next())
  const open = new Set<Promise<void>>()
  const startedMs = performance.now()
  for (let index = 0; index < count; index += 1) {
    const request = signed[index] ?? (await next())
    const due = startedMs + (dueMs[index] as number)
    const early = due - performance.now()
    if (early > 1) await new Promise((resolve) => setTimeout(resolve, early))
    // Now and then the answers must be read, however late we are.
    else if (index % 16 === 0) await new Promise((resolve) => setImmediate(resolve))
    tally.sent(Math.max(0, performance.now() - due), pool.open())
    const exchange = pool.send(request.bytes).then(
      ({ status, bytes }) => tally.answered(request, status, bytes, performance.now() - due),
      (error: Error) => tally.broke(request, error),
    )
    const settled = exchange.finally(() => open.delete(settled))
    open.add(settled)
  }
  const offeredSeconds = (performance.now() - startedMs) / 1000
  await Promise.all(open)
  pool.close()
  return tally.outcome(offeredSeconds)
}

/** Poisson arrivals from a fixed sequence, so that two runs offer the same. */
function arrivals(perSecond: number, count: number): number[] {
  let state = 1
  let atMs = 0
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647
    atMs += (-Math.log(state / 2_147_483_647) * 1000) / perSecond
    return atMs
  })
}

answerCommands(
  {
    wallets: () => Array.from({ length: creditWallets }, (_, n) => benchPayer(n).address),
    open: async (facts: Facts) => {
      port = facts.port
      traffic = await openTraffic(facts)
    },
    closed: closedLoop,
    offered: openLoop,
    cpu: cpuMicros,
  },
  async () => {},
)
