import { type Child, startChild } from '../../bench/process/child.ts'
import { offer } from './open-loop.ts'
import { createFaults, type Proof, plain, share } from './proof.ts'

const perSecond = 2_000
const p99MsMax = 20

type Outside = { rpc: number; facilitator: number; database: number; prepared: number }

/** Unpaid work is cheap: 2,000 requests a second for a price, open loop, one process; `count` is requests. */
export const proveUnpaidCheap: Proof = async ({ count, say }) => {
  const node = await startChild('../test/promises/counted-node.ts')
  try {
    return await measure(node, count, say)
  } finally {
    await node.stop()
  }
}

/** Half ask for the same thing, half for something of their own, one in fifty with a payment that is none. */
function requestAt(port: number, index: number): Buffer {
  const query = index % 2 === 0 ? 'message=same' : `message=m${index}`
  const bad = index % 50 === 1 ? `PAYMENT-SIGNATURE: bm90IGEgcGF5bWVudA${index % 10}\r\n` : ''
  return Buffer.from(`GET /v1/sandbox/echo?${query} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${bad}\r\n`)
}

async function measure(node: Child, count: number, say: (text: string) => void) {
  const faults = createFaults()
  const port = await node.ask<number>('port')
  const request = (index: number) => requestAt(port, index)
  say('  warming up ...')
  await offer(port, { perSecond: 1_000, seconds: 4, request })
  const before = await node.ask<Outside>('outside')
  const cpuBefore = await node.ask<{ cpuMicros: number }>('usage')
  const seconds = count / perSecond
  say(`  ${plain(perSecond)} a second for ${plain(seconds, 1)} s ...`)
  const { latenciesMs, statuses, broken, lateMs } = await offer(port, { perSecond, seconds, request })
  const after = await node.ask<Outside>('outside')
  const cpu = ((await node.ask<{ cpuMicros: number }>('usage')).cpuMicros - cpuBefore.cpuMicros) / count
  const p99 = share(latenciesMs, 0.99)
  const refused = [...statuses].filter(([status]) => status !== 402 && status !== 400)
  for (const [status, n] of refused) faults.note(`${n} were answered with ${status}`)
  if (broken > 0) faults.note(`${broken} connections broke`)
  if (p99 >= p99MsMax) faults.note(`p99 is ${plain(p99, 1)} ms`)
  for (const what of ['rpc', 'facilitator', 'prepared'] as const)
    if (after[what] !== before[what]) faults.note(`${after[what] - before[what]} calls: ${what}`)
  return {
    seen: `${plain(count)} at ${plain(perSecond)}/s: p50 ${plain(share(latenciesMs, 0.5), 1)}, p99 ${plain(p99, 1)}, max ${plain(latenciesMs.at(-1) ?? 0, 1)} ms; CPU ${plain(cpu)} µs each; 0 calls to chain, facilitator or handlers, ${after.database - before.database} database statements in all; generator at most ${plain(lateMs, 1)} ms late`,
    faults: faults.all(),
  }
}
