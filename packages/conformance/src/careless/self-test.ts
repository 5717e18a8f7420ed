import { type Case, levels } from '../case.ts'
import { catalogue } from '../catalogue.ts'
import { connectFacilitator } from '../facilitator/control.ts'
import { startTestFacilitator } from '../facilitator/test-facilitator.ts'
import { judge, type Report, type RunOptions } from '../run.ts'
import { newAccount } from '../seller/sign-payment.ts'
import { createMovableTime, type Time } from '../time.ts'
import { type CarelessSeller, startCarelessSeller } from './careless-seller.ts'
import type { Hole } from './exchange.ts'
import { foundBy, holes } from './holes.ts'
import { watchHoles } from './watch-holes.ts'

/** A careless seller with its own facilitator and chain. */
export type SelfTestLane = {
  seller: CarelessSeller
  facilitator: { url: string; rpc: string }
  /** Of the seller, the chain and the suite. */
  time: Time
  stop(): Promise<void>
}

/** With an embedded database, unless another one is given. */
export async function openLane(options: { databaseUrl?: string | undefined } = {}): Promise<SelfTestLane> {
  const time = createMovableTime()
  const facilitator = await startTestFacilitator({ hangMs: 6_000, slowMs: 600, time })
  const seller = await startCarelessSeller(facilitator, { ...options, time })
  return {
    ...{ seller, facilitator, time },
    stop: async () => {
      await seller.stop()
      await facilitator.stop()
    },
  }
}

export type HoleVerdict = {
  /** Undefined: the seller made no mistake. */
  hole: string | undefined
  /** How many cases were run; all others would have seen the same answers as without the mistake. */
  judged: number
  /** Cases that must fail. */
  expected: readonly string[]
  failed: readonly string[]
  /** What is wrong with the cases: empty when exactly those failed that had to and all others passed. */
  problems: readonly string[]
}

const capMicro = 10_000_000n

async function judgeSeller(
  { seller, facilitator, time }: SelfTestLane,
  hole: string | Hole | undefined,
  options: Pick<RunOptions, 'onProgress'> & { cases: readonly Case[] },
): Promise<Report> {
  const account = newAccount()
  const control = connectFacilitator(facilitator.url)
  await control.fund(account.address)
  seller.open(hole)
  return judge({
    ...{ url: seller.url, otherUrl: seller.otherUrl, account, capMicro, mayPay: true, patienceMs: 80_000, time },
    ...{ rpc: facilitator.rpc, facilitator: control, restart: seller.restart, ...options },
  }).finally(() => seller.open())
}

/** Judges the careless seller with one mistake, or none, by these cases. */
export async function judgeHole(
  lane: SelfTestLane,
  hole: string | undefined,
  cases: readonly Case[] = catalogue,
): Promise<HoleVerdict> {
  return verdictOf(hole, await judgeSeller(lane, hole, { cases }))
}

/** The cases in which a mistake would have changed an answer, by its name. */
export type Touched = Readonly<Record<string, readonly string[]>>

const opening = 'opening'

/** Judges the seller without a mistake, and finds which cases each mistake could change. */
export async function judgeCorrect(
  lane: SelfTestLane,
  cases: readonly Case[] = catalogue,
): Promise<HoleVerdict & { touched: Touched }> {
  const touched = new Map(Object.keys(holes).map((name) => [name, new Set<string>()]))
  let current = opening
  const watch = watchHoles(
    () => current,
    (name, id) => touched.get(name)?.add(id),
  )
  const report = await judgeSeller(lane, watch.hole, {
    cases,
    onProgress: ({ id }) => {
      current = id
    },
  })
  await watch.done()
  const lists = [...touched].map(([name, ids]) => [name, [...ids]])
  return { ...verdictOf(undefined, report), touched: Object.fromEntries(lists) }
}

/** The case that comes back for what another one has bought. */
const comesBackFor: Readonly<Record<string, string>> = { retention: 'identifier-replay' }

/** The cases that can tell a seller with this mistake from one without: for any other the answers are the same. */
export function casesTouched(touched: Touched, hole: string, cases: readonly Case[] = catalogue): readonly Case[] {
  const ids = new Set([...(touched[hole] ?? []), ...foundBy(hole)])
  if (ids.has(opening)) return cases
  for (const [later, earlier] of Object.entries(comesBackFor)) if (ids.has(later)) ids.add(earlier)
  return cases.filter(({ id }) => ids.has(id))
}

function verdictOf(hole: string | undefined, { cases }: Report): HoleVerdict {
  const ids = cases.map(({ id }) => id)
  const expected = hole === undefined ? [] : foundBy(hole).filter((id) => ids.includes(id))
  const problems = cases.flatMap(({ id, verdict, seen }) =>
    verdict === (expected.includes(id) ? 'failed' : 'passed') ? [] : [`${id} ${verdict}: ${seen}`],
  )
  const failed = cases.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id)
  return { hole, expected, judged: ids.length, failed, problems }
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

/** The cases that failed, and what is wrong about that. */
export const rowText = ({ hole = noHole, failed, problems }: HoleVerdict, width = 0): string =>
  [
    `${problems.length === 0 ? 'ok  ' : 'BAD '} ${hole.padEnd(width)}  ${failed.join(', ') || 'nothing failed'}`,
    ...problems.map((problem) => `       ${problem}`),
  ].join('\n')

/** A row for each hole. */
export function matrixText(verdicts: readonly HoleVerdict[]): string {
  const width = Math.max(...verdicts.map(({ hole = noHole }) => hole.length))
  const rows = verdicts.map((verdict) => rowText(verdict, width))
  const good = verdicts.filter(({ problems }) => problems.length === 0).length
  const perLevel = levels.map((level) => `${level} ${catalogue.filter((one) => one.level === level).length}`)
  return [...rows, `${good} of ${verdicts.length} rows as expected; cases: ${perLevel.join(', ')}`].join('\n')
}

const noHole = '(no mistake)'
