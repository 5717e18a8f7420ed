// npx tsx bench/mesh/main.ts: six nodes in six processes, killed, stopped and cut off from each other. Exit code 1 when a
// change takes ten seconds or more to be seen by all, or when a node that is up fails a customer.
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { startChain } from '../../test/harness/start-chain.ts'
import { closeOnSignal } from '../process/on-signal.ts'
import { reportFigures } from '../report-figures.ts'
import { type Customers, sendCustomers } from './customers.ts'
import { createMember, type Member } from './member.ts'
import { openWire } from './wire.ts'

const size = 6
const requiredSeconds = 10
const giveUpSeconds = 60

const ports = { clock: systemClock, log: silentLog }
const base = await startChain({ chainId: 8453, port: 0, ...ports })
const polygon = await startChain({ chainId: 137, port: 0, ...ports })
const members: Member[] = []
let sides = new Map<string, number>()
/** Nodes that customers go to: those a reasonable customer could expect to answer. */
let up: readonly Member[] = []
let customers: Customers | undefined
const figures: { name: string; seconds: number }[] = []

const origins = (list: readonly Member[]) => list.map((member) => member.origin).sort()

async function peersOf(member: Member): Promise<string[]> {
  const response = await fetch(`${member.direct()}/x402/mesh?view=brief`)
  const { peers } = (await response.json()) as { peers: { address: string }[] }
  return peers.map((peer) => peer.address).sort()
}

/** Seconds until everyone of each group lists exactly the others of its group. */
async function untilSeen(name: string, groups: readonly (readonly Member[])[]): Promise<void> {
  const startedMs = performance.now()
  const seen = async () => {
    for (const group of groups)
      for (const member of group) {
        const expected = origins(group.filter((other) => other !== member))
        const shown = await peersOf(member).catch(() => undefined)
        if (JSON.stringify(shown) !== JSON.stringify(expected)) return false
      }
    return true
  }
  while (!(await seen())) {
    if (performance.now() - startedMs > giveUpSeconds * 1000) {
      for (const member of groups.flat())
        process.stdout.write(`  ${member.origin} knows ${await peersOf(member).catch(String)}\n`)
      break
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const seconds = (performance.now() - startedMs) / 1000
  figures.push({ name, seconds })
  process.stdout.write(`${name.padEnd(44)} ${seconds.toFixed(1).padStart(5)} s  asked < ${requiredSeconds} s\n`)
}

async function run(): Promise<boolean> {
  for (let i = 0; i < size; i += 1) {
    const wire = await openWire((from, to) => from === undefined || sides.get(from) === sides.get(to))
    // Each knows one other: the first knows nobody.
    members.push(await createMember(wire, [base, polygon], members.at(-1)?.origin ?? ''))
  }
  await Promise.all(members.map((member) => member.start()))
  process.stdout.write(`${size} nodes are up\n`)
  up = members
  customers = await sendCustomers(() => up.map(({ origin }) => origin), base)
  await untilSeen('six nodes, each naming one other', [members])

  const [first, second, third, fourth, fifth, sixth] = members as [Member, Member, Member, Member, Member, Member]
  up = [first, third, fourth, sixth]
  await Promise.all([second.signal('SIGKILL'), fifth.signal('SIGKILL')])
  await untilSeen('two killed: dropped by the four others', [up])
  await Promise.all([second.start(), fifth.start()])
  await untilSeen('both started again: known to all', [members])

  up = members
  sides = new Map(members.map((member, index) => [member.origin, index % 2]))
  const halves = [members.filter((_, index) => index % 2 === 0), members.filter((_, index) => index % 2 === 1)]
  await untilSeen('cut in halves: each half knows itself alone', halves)
  sides = new Map()
  await untilSeen('healed: known to all', [members])

  up = members.slice(0, 5)
  await sixth.signal('SIGSTOP')
  await untilSeen('one stalls: dropped by the five others', [up])
  await sixth.signal('SIGCONT')
  await untilSeen('it goes on: known to all', [members])

  const served = await customers.end()
  customers = undefined
  const { asked, bought, failures } = served
  process.stdout.write(`customers meanwhile: ${asked} asked, ${bought} bought, ${failures.length} failed (asked: 0)\n`)
  for (const failure of failures.slice(0, 10)) process.stdout.write(`  ${failure}\n`)
  reportFigures(
    ...figures.map(({ name, seconds }) => ({
      figure: name,
      asked: `${requiredSeconds} s`,
      measured: `${seconds.toFixed(1)} s`,
      reached: seconds < requiredSeconds,
    })),
    {
      figure: 'customers meanwhile that a node failed',
      asked: '0',
      measured: `${failures.length} of ${asked + bought}`,
      reached: failures.length === 0 && bought > 0,
    },
  )
  return figures.every(({ seconds }) => seconds < requiredSeconds) && failures.length === 0 && bought > 0
}

const close = async () => {
  await customers?.end()
  await Promise.all(members.map((member) => member.close()))
  await Promise.all([base.stop(), polygon.stop()])
}
closeOnSignal(close)
try {
  process.exitCode = (await run()) ? 0 : 1
} finally {
  await close()
}
