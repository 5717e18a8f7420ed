import { percentiles } from '../../bench/percentiles.ts'
import { type Child, startChild } from '../../bench/process/child.ts'
import { offer } from './open-loop.ts'
import { createFaults, createProgress, type Proof, plain } from './proof.ts'

const honestPerSecond = 200
const spanSeconds = 12
const memoryMbMax = 64
/** Below this a ratio says more about the machine than about the node. */
const calmMs = 10
const roundsMax = 3

/** E1, E2: slow callers and endless bodies harm nobody else; `count` is slow connections. */
export const proveHostileHarmless: Proof = async ({ count, say }) => {
  const node = await startChild('../test/promises/counted-node.ts')
  // In a separate process: opening thousands of connections keeps the client busy longer than the server.
  const hostile = await startChild('../test/promises/hostile-callers.ts')
  try {
    return await measure({ node, hostile }, count, say)
  } finally {
    await hostile.stop()
    await node.stop()
  }
}

type Round = { calm: number; loud: number; risenMb: number; details: string[]; stillOpen: number; broken: number }

type Sides = { node: Child; hostile: Child }

/** Honest callers alone, then beside the hostile ones. */
async function attackOnce({ node, hostile }: Sides, count: number, say: (text: string) => void): Promise<Round> {
  const port = await node.ask<number>('port')
  const request = (index: number) =>
    Buffer.from(`GET /v1/sandbox/echo?message=m${index} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
  const honest = (seconds: number) => offer(port, { perSecond: honestPerSecond, seconds, request })
  say('  honest callers alone ...')
  await offer(port, { perSecond: 1_500, seconds: 5, request })
  const alone = await honest(spanSeconds)
  const before = await node.ask<{ rss: number }>('usage')
  let peak = before.rss
  const watch = setInterval(async () => {
    const { rss } = await node.ask<{ rss: number }>('usage').catch(() => before)
    peak = Math.max(peak, rss)
  }, 250)
  say(`  ${plain(count)} connections that never finish their headers, and bodies without end ...`)
  const attack = hostile.ask<string[]>('attack', { port, count })
  const beside = await honest(spanSeconds)
  const details = await attack
  const stillOpen = await untilClosed(hostile, createProgress(say, count, 'slow connections cut'))
  clearInterval(watch)
  return {
    calm: percentiles(alone.latenciesMs)(0.99),
    loud: percentiles(beside.latenciesMs)(0.99),
    risenMb: (peak - before.rss) / 1_048_576,
    details,
    stillOpen,
    broken: beside.broken,
  }
}

/** A refusal may be lost with the connection: who goes on writing to a closed one gets a reset and cannot read it. */
const harmlessEnds = new Set(['413', '415', 'cut'])

const isHarmed = ({ calm, loud }: Round) => loud >= Math.max(2 * calm, calmMs)

/** A stall of the machine may slow the honest in one round; what the hostile do to them shows in every round. */
async function measure(sides: Sides, count: number, say: (text: string) => void) {
  const faults = createFaults()
  const rounds: Round[] = []
  do rounds.push(await attackOnce(sides, count, say))
  while (rounds.length < roundsMax && rounds.every(isHarmed))
  for (const { risenMb, details, stillOpen, broken } of rounds) {
    if (stillOpen > 0) faults.note(`${stillOpen} slow connections are still open after a minute`)
    for (const answer of details)
      if (!harmlessEnds.has(answer)) faults.note(`a body without end was answered with ${answer}`)
    if (risenMb >= memoryMbMax) faults.note(`memory rose by ${plain(risenMb)} MB`)
    if (broken > 0) faults.note(`${broken} honest connections broke`)
  }
  const { calm, loud, risenMb, details } = rounds.at(-1) as Round
  if (rounds.every(isHarmed))
    faults.note(
      `p99 of the honest went from ${plain(calm, 1)} to ${plain(loud, 1)} ms, in ${rounds.length} of ${rounds.length} rounds`,
    )
  return {
    seen: `${plain(count)} slow connections cut, ${details.length} endless bodies refused (${[...new Set(details)].sort().join(', ')}); memory +${plain(risenMb)} MB; honest p99 ${plain(calm, 1)} ms alone, ${plain(loud, 1)} ms beside, in round ${rounds.length} of at most ${roundsMax}`,
    faults: faults.all(),
  }
}

async function untilClosed(hostile: Child, progress: (done: number) => void): Promise<number> {
  let open = await hostile.ask<number>('open')
  for (let tries = 0; open > 0 && tries < 300; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    open = await hostile.ask<number>('open')
    progress(open)
  }
  return open
}
