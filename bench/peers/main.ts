import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installTarballs, packAll } from '../../test/harness/unpacked.ts'
import { assertEqual } from '../figures/compare.ts'
import { type Comparison, type Figure, isReached, pooled } from '../figures/figure.ts'
import { buyingSide, loadSecondsMax, paidConnections, soldIn } from '../figures/paid.ts'
import {
  ask,
  type Effort,
  fixedAnswer,
  loadInTurn,
  type PaymentRequired,
  paidPath,
  paidTarget,
  type Server,
  startLoad,
} from '../figures/setup.ts'
import { termsOf } from '../figures/unpaid.ts'
import { decodeHeader } from '../load/exchange.ts'
import type { Child } from '../process/child.ts'
import { untilQuiet } from '../process/until-quiet.ts'
import { jsonOf, rowOf, tableOf } from '../report.ts'
import { reportFigures } from '../report-figures.ts'
import type { Measured } from '../rounds.ts'

const usual: Effort = {
  ...{ starts: 3, rounds: 3, warmRequests: 8_000, warmSeconds: 3, seconds: 0.7, payments: 1_500, settleRounds: 0 },
}
const quick: Effort = { ...usual, starts: 1, warmRequests: 3_000, warmSeconds: 2, seconds: 0.4, payments: 500 }

const frameworks = ['hono', 'express'] as const

const usage = `npm run bench:peers [-- hono | express] [-- --quick] [-- --json]\n`

/** The till beside the stock middleware: same framework, same route, settlement answered in process on both sides. */
export async function runPeers(args: readonly string[]): Promise<number> {
  if (args.some((arg) => !['--quick', '--json', ...frameworks].includes(arg))) {
    process.stderr.write(usage)
    return 2
  }
  const effort = args.includes('--quick') ? quick : usual
  const asked = frameworks.filter((framework) => args.includes(framework))
  const project = mkdtempSync(join(tmpdir(), 'assay-peers-'))
  const figures: Figure[] = []
  try {
    await installTarballs(project, await packAll(), ['protocol', 'till'])
    for (const framework of asked.length > 0 ? asked : frameworks) {
      const starts: Comparison[][] = []
      for (let start = 1; start <= effort.starts; start += 1) {
        process.stderr.write(`${framework}, start ${start} of ${effort.starts}\n`)
        starts.push(await measureStart(framework, join(project, 'node_modules/@assay/till'), effort))
      }
      figures.push(...pooled(starts))
    }
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
  reportFigures(...figures.map(rowOf))
  process.stdout.write(`${args.includes('--json') ? jsonOf(figures) : tableOf(figures)}\n`)
  return figures.every(isReached) ? 0 : 1
}

async function measureStart(
  framework: (typeof frameworks)[number],
  till: string,
  effort: Effort,
): Promise<Comparison[]> {
  const { load, start, stop } = await startLoad()
  try {
    const seller = async (MPP: 'on' | 'off') => {
      const server = await start('sides/till-seller.ts', { FRAMEWORK: framework, TILL: till, MPP })
      await untilQuiet(server.child)
      return server
    }
    // The peer speaks x402 alone. With MPP a challenge is made for each request; that is measured beside it.
    const ours = await seller('off')
    const both = await seller('on')
    const challenge = await ask(ours, paidTarget)
    const { accepts } = decodeHeader<PaymentRequired>(challenge, 'payment-required')
    const peer = await start(`sides/${framework}.ts`, {
      ROUTE: JSON.stringify({ path: paidPath, accepts }),
      // As ours: settlement is answered at the port, without a second look at the payment.
      SETTLE_AT: 'port',
    })
    const alone = await start('sides/framework.ts', {
      FRAMEWORK: framework,
      GIVEN: JSON.stringify({ path: paidPath, answer: fixedAnswer(challenge) }),
    })
    return await measure(framework, { load, effort }, { ours, both, peer, alone })
  } finally {
    await stop()
  }
}

async function measure(
  framework: string,
  setting: { load: Child; effort: Effort },
  { ours: till, both, peer, alone }: Record<'ours' | 'both' | 'peer' | 'alone', Server>,
): Promise<Comparison[]> {
  const name = `@x402/${framework}`
  const unpaidSide = (side: string, { child, port, host }: Server) => ({
    ...{ name: side, server: child, port, status: 402 },
    plan: { kind: 'same' as const, host, target: paidTarget },
  })
  const unpaidSides = [
    unpaidSide('till', till),
    unpaidSide('till with MPP', both),
    unpaidSide(name, peer),
    unpaidSide(framework, alone),
  ]
  const [ours, withMpp, theirs, floor] = (await loadInTurn(setting, unpaidSides)) as [
    Measured[],
    Measured[],
    Measured[],
    Measured[],
  ]
  for (const [round, { sample }] of ours.entries())
    assertEqual('the terms of payment', termsOf(sample), termsOf(theirs[round]?.sample ?? ''))
  const { payments } = setting.effort
  const paid = await loadInTurn(
    setting,
    [await buyingSide('till', till, payments), await buyingSide(name, peer, Math.ceil(payments / 3))],
    { connections: paidConnections, secondsMax: loadSecondsMax },
  )
  const [sold, theirSold] = paid as [Measured[], Measured[]]
  for (const [round, { sample }] of sold.entries())
    assertEqual('what was sold', soldIn(sample), soldIn(theirSold[round]?.sample ?? ''))
  const unpaid = { name: `till on ${framework}, unpaid 402`, basis: 'cpu' as const }
  const bare = `${framework} alone, the same bytes`
  return [
    { figure: { ...unpaid, peer: name, required: 1.8 }, ours, theirs },
    { figure: { ...unpaid, peer: bare, required: null }, ours, theirs: floor },
    { figure: { ...unpaid, name: `${unpaid.name} with MPP`, peer: name, required: null }, ours: withMpp, theirs },
    {
      figure: { name: `till on ${framework}, paid`, peer: name, required: 2.7, basis: 'throughput' },
      ...{ ours: sold, theirs: theirSold },
    },
  ]
}
