import { decodeHeader, exchange, type RawAnswer } from '../load/exchange.ts'
import { requestText } from '../load/requests.ts'
import type { BenchTerms } from '../load/sign-payments.ts'
import { type Child, startChild } from '../process/child.ts'
import { untilQuiet } from '../process/until-quiet.ts'
import { alternate, type LoadShape, type Measured, measure, type Side } from '../rounds.ts'
import type { FixedAnswer } from '../sides/bare.ts'
import { assertSameBytes, ofConnection } from './compare.ts'

export const paidTarget = '/v1/sandbox/echo?message=hello'
export const paidPath = '/v1/sandbox/echo'

export type Server = { child: Child; port: number; host: string }

/** How long and how often; a quick run shows that everything works, not how fast it is. */
export type Effort = {
  /** The servers are started this often, and each time measured for so many rounds. */
  starts: number
  rounds: number
  /** A side is warm after this many requests, or this long. */
  warmRequests: number
  warmSeconds: number
  /** Length of a round. */
  seconds: number
  /** Purchases in a round. */
  payments: number
  settleRounds: number
}

/** The servers that the HTTP figures are measured on, and the process that loads them. */
export type Setup = {
  load: Child
  assay: Server
  bare: Server
  hono: Server
  /** The same, but its settlement is answered before its facilitator looks at the payment a second time. */
  honoOnce: Server
  effort: Effort
  /** Our own side again, for one figure, with other settings; stopped by its caller. */
  startAssay(env: Record<string, string>): Promise<Server>
  stop(): Promise<void>
}

export type PaymentRequired = { resource: { url: string }; accepts: BenchTerms['accepted'][] }

export const connections = 48

/** The process that loads servers, and a way to start these; they stop together. */
export async function startLoad() {
  const load = await startChild('load/load-process.ts')
  const started = [load]
  return {
    load,
    start: async (file: string, env?: Record<string, string>): Promise<Server> => {
      const child = await startChild(file, env)
      started.push(child)
      const port = await child.ask<number>('port')
      return { child, port, host: `127.0.0.1:${port}` }
    },
    stop: async () => {
      await Promise.all(started.map((child) => child.stop()))
    },
  }
}

export async function openSetup(home: string, effort: Effort): Promise<Setup> {
  const { load, start, stop } = await startLoad()
  try {
    const startAssay = async (env: Record<string, string>) => {
      const server = await start('sides/assay.ts', env)
      await untilQuiet(server.child)
      return server
    }
    const assay = await startAssay({ ASSAY_HOME: home })
    const { accepts } = decodeHeader<PaymentRequired>(await ask(assay, paidTarget), 'payment-required')
    const bare = await start('sides/bare.ts')
    const route = { ROUTE: JSON.stringify({ path: paidPath, accepts }) }
    const hono = await start('sides/hono.ts', route)
    const honoOnce = await start('sides/hono.ts', { ...route, SETTLE_AT: 'port' })
    return { load, assay, bare, hono, honoOnce, effort, startAssay, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

export function ask(server: Server, target: string): Promise<RawAnswer> {
  return exchange(server.port, requestText(server.host, target))
}

/** An answer without what belongs to its connection. */
export const fixedAnswer = ({ status, headers, body }: RawAnswer): FixedAnswer => ({
  ...{ status, body },
  headers: headers.filter(([name]) => !ofConnection.has(name.toLowerCase())).flat(),
})

/** Lets the bare server write what ours just answered, and proves that it does. */
export async function copyToBare({ assay, bare }: Pick<Setup, 'assay' | 'bare'>, target: string): Promise<void> {
  const ours = await ask(assay, target)
  await bare.child.ask('give', fixedAnswer(ours))
  assertSameBytes(ours, await ask(bare, target))
}

/** Warm first, so that no compiler works during the rounds; then the sides in turn. */
export async function loadInTurn(
  { load, effort }: Pick<Setup, 'load' | 'effort'>,
  sides: readonly Side[],
  shape: LoadShape = { connections, secondsMax: effort.seconds },
): Promise<Measured[][]> {
  await warm(load, sides, shape, effort)
  return alternate(
    effort.rounds,
    sides.map((side) => () => measure(load, side, shape)),
  )
}

/** In turn as well: what waits for the others to be warm has its compiled code thrown away meanwhile. */
async function warm(load: Child, sides: readonly Side[], shape: LoadShape, effort: Effort): Promise<void> {
  const cold = new Map(sides.map((side) => [side, { requests: 0, seconds: 0 }]))
  for (let side = sides[0]; side !== undefined; side = [...cold.keys()][0]) {
    const { requests, perSecond } = await measure(load, side, shape)
    const done = cold.get(side) ?? { requests: 0, seconds: 0 }
    cold.delete(side)
    const [soFar, seconds] = [done.requests + requests, done.seconds + requests / perSecond]
    if (soFar < effort.warmRequests && seconds < effort.warmSeconds) cold.set(side, { requests: soFar, seconds })
  }
}
