import { startChild } from '../process/child.ts'
import { type Measured, measure, median } from '../rounds.ts'

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
    const once = async (on: boolean) => {
      await server.ask('hooks', on)
      return measure(load, side, { connections: 64, secondsMax: 60 })
    }
    await once(true)
    await once(false)
    const on: Measured[] = []
    const off: Measured[] = []
    for (let round = 0; round < rounds; round += 1) {
      off.push(await once(false))
      on.push(await once(true))
    }
    const added = (of: (measured: Measured) => number) =>
      median(on.map((measured, index) => of(measured) / of(off[index] as Measured) - 1)) * 100
    return {
      payments,
      added_time_percent: added(({ perSecond }) => 1 / perSecond),
      added_cpu_percent: added(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest),
      per_second_with: median(on.map(({ perSecond }) => perSecond)),
      per_second_without: median(off.map(({ perSecond }) => perSecond)),
      required: 'below 15 percent',
    }
  } finally {
    await load.stop()
    await server.stop()
  }
}
