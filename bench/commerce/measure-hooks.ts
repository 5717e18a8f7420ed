import { median } from '../percentiles.ts'
import { startChild } from '../process/child.ts'
import { measure, ratioOf } from '../rounds.ts'

/** Microseconds for each purchase, with its part of the jobs that it leaves behind. */
type Round = { time: number; node: number; database: number }
type PaymentRequired = { resource: { url: string }; accepts: never[] }

const target = `/v1/sandbox/echo?message=hello&aff=0x${'ab'.repeat(20)}`

/**
 * The same purchases with and without the sale hooks, in turn: points and an affiliate share for each. A round ends when
 * its payments are final, its shares mature and its postings sealed.
 */
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
    const cpu = async () => ({
      node: await server.ask<number>('cpu'),
      database: await server.ask<number>('database_cpu'),
    })
    const once = async (on: boolean): Promise<Round> => {
      await server.ask('hooks', on)
      const before = await cpu()
      const { requests, perSecond } = await measure(load, side, { connections: 64, secondsMax: 60 })
      const servedMs = performance.now()
      await server.ask('finish_jobs')
      const jobsMicros = (performance.now() - servedMs) * 1_000
      const after = await cpu()
      return {
        time: 1e6 / perSecond + jobsMicros / requests,
        node: (after.node - before.node) / requests,
        database: (after.database - before.database) / requests,
      }
    }
    await once(true)
    await once(false)
    const sides: Record<'on' | 'off', Round[]> = { on: [], off: [] }
    // A B B A: what a round adds to the tables slows neither side more than the other.
    for (let round = 0; round < rounds; round += 1)
      for (const name of round % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const))
        sides[name].push(await once(name === 'on'))
    const percent = (ratio: number) => Number(((ratio - 1) * 100).toFixed(1))
    const added = (of: (round: Round) => number) => {
      const { median, spread } = ratioOf(sides.on.map(of), sides.off.map(of))
      return { percent: percent(median), half_of_rounds: spread.map(percent) }
    }
    const middle = (rounds: readonly Round[]) => ({
      time_micros: Math.round(median(rounds.map(({ time }) => time))),
      node_cpu_micros: Math.round(median(rounds.map(({ node }) => node))),
      database_cpu_micros: Math.round(median(rounds.map(({ database }) => database))),
    })
    return {
      payments,
      added_time: added(({ time }) => time),
      // CPU of the node and its database together, because a paid request uses both.
      added_cpu: added(({ node, database }) => node + database),
      with_hooks: middle(sides.on),
      without_hooks: middle(sides.off),
      required: 'below 15 percent',
    }
  } finally {
    await load.stop()
    await server.stop()
  }
}
