import { median } from '../percentiles.ts'
import { startChild } from '../process/child.ts'
import { type Measured, measure } from '../rounds.ts'

type Round = Measured & { databaseMicros: number }
type PaymentRequired = { resource: { url: string }; accepts: never[] }

const target = `/v1/sandbox/echo?message=hello&aff=0x${'ab'.repeat(20)}`

/** The same purchases with and without the sale hooks, in turn: points and an affiliate share for each. */
export async function measureHooks(home: string, rounds: number, payments: number) {
  const server = await startChild('commerce/side.ts', { ASSAY_HOME: home })
  const load = await startChild('load/load-process.ts')
  try {
    const port = await server.ask<number>('port')
    const host = `127.0.0.1:${port}`
    const challenge = await fetch(`http://${host}${target}`)
    const required = JSON.parse(
      Buffer.from(challenge.headers.get('payment-required') ?? '', 'base64').toString(),
    ) as PaymentRequired
    const terms = { resourceUrl: required.resource.url, accepted: required.accepts[0] as never }
    const side = {
      name: 'assay',
      server,
      port,
      plan: { kind: 'paid' as const, host, target, count: payments, terms },
      status: 200,
    }
    const once = async (on: boolean): Promise<Round> => {
      await server.ask('hooks', on)
      const before = await server.ask<number>('database_cpu')
      const measured = await measure(load, side, { connections: 64, secondsMax: 60 })
      const databaseMicros = ((await server.ask<number>('database_cpu')) - before) / measured.requests
      return { ...measured, databaseMicros }
    }
    await once(true)
    await once(false)
    const on: Round[] = []
    const off: Round[] = []
    for (let round = 0; round < rounds; round += 1) {
      off.push(await once(false))
      on.push(await once(true))
    }
    const added = (of: (round: Round) => number) =>
      Number((median(on.map((round, index) => of(round) / of(off[index] as Round) - 1)) * 100).toFixed(1))
    const middle = (rounds: readonly Round[], of: (round: Round) => number) => Math.round(median(rounds.map(of)))
    const cost = (round: Round) => round.cpuMicrosPerRequest + round.databaseMicros
    return {
      payments,
      added_time_percent: added(({ perSecond }) => 1 / perSecond),
      // CPU of the node and its database together, because a paid request uses both.
      added_cpu_percent: added(cost),
      cpu_micros_with: middle(on, cost),
      cpu_micros_without: middle(off, cost),
      node_cpu_micros: [
        middle(on, (round) => round.cpuMicrosPerRequest),
        middle(off, (round) => round.cpuMicrosPerRequest),
      ],
      database_cpu_micros: [middle(on, (round) => round.databaseMicros), middle(off, (round) => round.databaseMicros)],
      per_second_with: middle(on, ({ perSecond }) => perSecond),
      per_second_without: middle(off, ({ perSecond }) => perSecond),
      required: 'below 15 percent',
    }
  } finally {
    await load.stop()
    await server.stop()
  }
}
