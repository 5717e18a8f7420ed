import { setTimeout as sleep } from 'node:timers/promises'
import type { PrivateKeyAccount } from 'viem/accounts'
import { percentiles } from '../../bench/percentiles.ts'
import { setPause } from '../../packages/till/src/store/pauses.ts'
import { startCrashChild } from '../harness/crash-child.ts'
import {
  echoPath,
  encodePayload,
  openTill,
  type PaymentRequired,
  quote,
  signPayment,
  type TillFixture,
} from '../harness/till-fixture.ts'
import { createDice, createFaults, type Faults, type Proof, type ProofOptions, plain } from './proof.ts'

const processes = 2
const withinMs = 1_000
const pauseMs = 5
const buyersEach = 3
const fundedMicro = 1_000_000_000n

/** A pause stops selling in every process within a second, and lets it go on again; `count` is times on and off. */
export const provePause: Proof = async (options) => {
  const till = await openTill({ ownShops: 'till' })
  const children = await Promise.all(Array.from({ length: processes }, () => startCrashChild(till)))
  try {
    return await turnUnderLoad(
      till,
      children.map(({ url }) => url),
      options,
    )
  } finally {
    await Promise.all(children.map((child) => child.stop()))
    await till.close()
  }
}

/** One request, and whether the process offered or sold something to it. */
type Probe = { startedMs: number; endedMs: number; sold: boolean }
/** One caller, one request after the other: it asks for a price, or it buys. */
type Row = { buys: boolean; probes: readonly Probe[]; finished: Promise<void> }
type Turn = { on: boolean; atMs: number }

async function turnUnderLoad(till: TillFixture, urls: readonly string[], { count, say }: ProofOptions) {
  const faults = createFaults()
  const dice = createDice(Date.now() % 1_000_000)
  let over = false
  const rows = await Promise.all(
    urls.flatMap((url) => [
      keepProbing({ buys: false, ask: () => fetch(`${url}${echoPath}`) }, () => over, faults),
      ...Array.from({ length: buyersEach }, async () =>
        keepProbing({ buys: true, ask: await buyAt(till, `${url}${echoPath}`) }, () => over, faults),
      ),
    ]),
  )
  const turns: Turn[] = []
  const turn = async (on: boolean) => {
    const atMs = performance.now()
    turns.push({ on, atMs })
    // As `assay pause` does it.
    await setPause(till.db.database, { name: 'sales', paused: on, reason: 'to see how soon it counts', by: 'proof' })
    await sleep(withinMs + 100 + dice.below(400))
    // On a busy machine a purchase may take longer than that: each must have come round once.
    for (const { probes } of rows) while ((probes.at(-1)?.startedMs ?? 0) < atMs + withinMs) await sleep(pauseMs)
  }
  for (let done = 0; done < count; done += 1) {
    await turn(true)
    await turn(false)
    if ((done + 1) % 5 === 0) say(`  ${done + 1} of ${plain(count)} times on and off`)
  }
  over = true
  await Promise.all(rows.map(({ finished }) => finished))
  const stopped = delays(turns, rows, true, faults)
  const resumed = delays(turns, rows, false, faults)
  const sales = rows.flatMap(({ buys, probes }) => (buys ? probes.filter(({ sold }) => sold) : []))
  return {
    seen: `${plain(count)} times on and off at ${urls.length} processes under ${plain(rows.flatMap(({ probes }) => probes).length)} requests (${plain(sales.length)} purchases): each refused after p50 ${plain(percentiles(stopped.asked)(0.5))}, at most ${plain(Math.max(0, ...stopped.asked))} ms, the last purchase it took was sent ${plain(Math.max(0, ...stopped.bought))} ms after the command; offered again after at most ${plain(Math.max(0, ...resumed.asked))} ms`,
    faults: faults.all(),
  }
}

/** Starts before it returns, and goes on while the caller continues. */
async function keepProbing(
  { buys, ask }: { buys: boolean; ask(): Promise<Response> },
  isOver: () => boolean,
  faults: Faults,
): Promise<Row> {
  const probes: Probe[] = []
  const once = async () => {
    const startedMs = performance.now()
    const response = await ask()
    const body = await response.text()
    const refused = response.status === 503 && body.includes('not_available')
    if (!refused && response.status !== 402 && response.status !== 200)
      faults.note(`a request was answered with ${response.status}: ${body.slice(0, 200)}`)
    probes.push({ startedMs, endedMs: performance.now(), sold: !refused })
  }
  await once()
  const finished = (async () => {
    while (!isOver()) {
      await once().catch((error: unknown) => faults.note(String(error)))
      await sleep(pauseMs)
    }
  })()
  return { buys, probes, finished }
}

/** The terms are read once, while there are some: a buyer that comes back with them is to be refused, too. */
async function buyAt(till: TillFixture, url: string): Promise<() => Promise<Response>> {
  const [buyer, offer]: [PrivateKeyAccount, PaymentRequired] = [await till.newBuyer(fundedMicro), await quote(url)]
  return async () => {
    const payment = encodePayload(await signPayment(buyer, offer))
    return fetch(url, { headers: { 'payment-signature': payment } })
  }
}

type Delays = { asked: number[]; bought: number[] }

/**
 * How long after the command it counted. For a caller that asks, until the answer that showed it. For a buyer, when the last
 * request was sent that was still sold to, or the first that was sold to again: a sale that was begun is finished.
 */
function delays(turns: readonly Turn[], rows: readonly Row[], on: boolean, faults: Faults): Delays {
  const all: Delays = { asked: [], bought: [] }
  const word = on ? 'on' : 'off'
  turns.forEach((turn, index) => {
    if (turn.on !== on) return
    const untilMs = turns[index + 1]?.atMs ?? Number.POSITIVE_INFINITY
    for (const { buys, probes } of rows) {
      const during = probes.filter(({ startedMs }) => startedMs >= turn.atMs && startedMs < untilMs)
      const first = during.find(({ sold }) => sold !== on)
      if (!first) {
        faults.note(`a process did not notice that sales were ${word}`)
        continue
      }
      const lastSold = during.findLast(({ sold }) => sold)?.startedMs ?? turn.atMs
      const tookMs = (buys ? (on ? lastSold : first.startedMs) : first.endedMs) - turn.atMs
      if (tookMs > withinMs) faults.note(`turned ${word}, it counted after ${plain(tookMs)} ms`)
      const back = during.filter(({ startedMs, sold }) => startedMs > first.endedMs && sold === on)
      if (back.length > 0) faults.note(`${back.length} requests were ${on ? 'sold to' : 'refused'} after that`)
      all[buys ? 'bought' : 'asked'].push(tookMs)
    }
  })
  return all
}
