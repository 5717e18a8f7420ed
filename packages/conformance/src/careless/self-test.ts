import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type Case, levels } from '../case.ts'
import { catalogue } from '../catalogue.ts'
import { connectFacilitator } from '../facilitator/control.ts'
import { startTestFacilitator } from '../facilitator/test-facilitator.ts'
import { judge } from '../run.ts'
import { type CarelessSeller, startCarelessSeller } from './careless-seller.ts'
import { foundBy, holes } from './holes.ts'

/** A careless seller with its own facilitator and chain. */
export type SelfTestLane = {
  seller: CarelessSeller
  facilitator: { url: string; rpc: string }
  stop(): Promise<void>
}

/** With an embedded database, unless another one is given. */
export async function openLane(options: { databaseUrl?: string | undefined } = {}): Promise<SelfTestLane> {
  const facilitator = await startTestFacilitator({ hangMs: 6_000, slowMs: 600 })
  const seller = await startCarelessSeller(facilitator, options)
  return {
    ...{ seller, facilitator },
    stop: async () => {
      await seller.stop()
      await facilitator.stop()
    },
  }
}

export type HoleVerdict = {
  /** Undefined: the seller made no mistake. */
  hole: string | undefined
  /** Cases that must fail. */
  expected: readonly string[]
  failed: readonly string[]
  /** What is wrong with the cases: empty when exactly those failed that had to and all others passed. */
  problems: readonly string[]
}

const capMicro = 10_000_000n

/** Judges the careless seller with one mistake, or none, by these cases. */
export async function judgeHole(
  { seller, facilitator }: SelfTestLane,
  hole: string | undefined,
  cases: readonly Case[] = catalogue,
): Promise<HoleVerdict> {
  const account = privateKeyToAccount(generatePrivateKey())
  const control = connectFacilitator(facilitator.url)
  if (cases === catalogue) await seller.restart()
  await control.fund(account.address)
  seller.open(hole)
  const report = await judge({
    ...{ url: seller.url, otherUrl: seller.otherUrl, account, capMicro, mayPay: true, patienceMs: 40_000, cases },
    ...{ rpc: facilitator.rpc, facilitator: control, restart: seller.restart },
  }).finally(() => seller.open())
  const ids = cases.map(({ id }) => id)
  const expected = hole === undefined ? [] : foundBy(hole).filter((id) => ids.includes(id))
  const problems = report.cases.flatMap(({ id, verdict, seen }) =>
    verdict === (expected.includes(id) ? 'failed' : 'passed') ? [] : [`${id} ${verdict}: ${seen}`],
  )
  return {
    hole,
    expected,
    failed: report.cases.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id),
    problems,
  }
}

/** Cases without a hole and holes without a case: both mean that nothing is proved. */
export function unmatched(cases: readonly Pick<Case, 'id'>[] = catalogue): string[] {
  const found = new Set(Object.keys(holes).flatMap(foundBy))
  const ids = new Set(cases.map(({ id }) => id))
  return [
    ...[...ids].filter((id) => !found.has(id)).map((id) => `no hole for the case ${id}`),
    ...[...found].filter((id) => !ids.has(id)).map((id) => `no case for the hole ${id}`),
  ]
}

/** A row for each hole: the cases that failed, and what is wrong about that. */
export function matrixText(verdicts: readonly HoleVerdict[]): string {
  const width = Math.max(...verdicts.map(({ hole }) => (hole ?? noHole).length))
  const rows = verdicts.map(({ hole, failed, problems }) =>
    [
      `${problems.length === 0 ? 'ok  ' : 'BAD '} ${(hole ?? noHole).padEnd(width)}  ${failed.join(', ') || 'nothing failed'}`,
      ...problems.map((problem) => `       ${problem}`),
    ].join('\n'),
  )
  const good = verdicts.filter(({ problems }) => problems.length === 0).length
  const perLevel = levels.map((level) => `${level} ${catalogue.filter((one) => one.level === level).length}`)
  return [...rows, `${good} of ${verdicts.length} rows as expected; cases: ${perLevel.join(', ')}`].join('\n')
}

const noHole = '(no mistake)'
