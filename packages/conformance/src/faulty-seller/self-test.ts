import { type Case, levels } from '../case.ts'
import { catalogue } from '../catalogue.ts'
import { connectFacilitator } from '../facilitator/control.ts'
import { startTestFacilitator } from '../facilitator/test-facilitator.ts'
import { checkSeller, type Report, type RunOptions } from '../run.ts'
import { newAccount } from '../seller/sign-payment.ts'
import { createMovableTime, type Time } from '../time.ts'
import { compareMistakes } from './compare-mistakes.ts'
import type { Mistake } from './exchange.ts'
import { type FaultySeller, startFaultySeller } from './faulty-seller.ts'
import { foundBy, mistakes } from './mistakes.ts'

/** A faulty seller with its own facilitator and chain. */
export type SelfTestSetup = {
  seller: FaultySeller
  facilitator: { url: string; rpc: string }
  /** The clock that seller, chain and suite share. */
  time: Time
  stop(): Promise<void>
}

/**
 * With an embedded database, unless another one is given. The seller waits for a settlement less long than a facilitator that
 * hangs; where none does, as long as a busy machine takes.
 */
export async function openSetup(
  options: { databaseUrl?: string | undefined; settleSeconds?: number } = {},
): Promise<SelfTestSetup> {
  const time = createMovableTime()
  const facilitator = await startTestFacilitator({ hangMs: 6_000, slowMs: 600, time })
  const seller = await startFaultySeller(facilitator, { ...options, time })
  return {
    ...{ seller, facilitator, time },
    stop: async () => {
      await seller.stop()
      await facilitator.stop()
    },
  }
}

export type MistakeResult = {
  /** Undefined: the seller made no mistake. */
  mistake: string | undefined
  /** How many cases were run; all others would have seen the same answers as without the mistake. */
  checked: number
  /** Cases that must fail. */
  expected: readonly string[]
  failed: readonly string[]
  /** What is wrong with the cases: empty when exactly those failed that had to and all others passed. */
  problems: readonly string[]
}

const capMicro = 10_000_000n

async function runAgainst(
  { seller, facilitator, time }: SelfTestSetup,
  mistake: string | Mistake | undefined,
  options: Pick<RunOptions, 'onProgress'> & { cases: readonly Case[] },
): Promise<Report> {
  const account = newAccount()
  const control = connectFacilitator(facilitator.url)
  await control.fund(account.address)
  seller.open(mistake)
  return checkSeller({
    ...{ url: seller.url, otherUrl: seller.otherUrl, account, capMicro, mayPay: true, patienceMs: 80_000, time },
    ...{ rpc: facilitator.rpc, facilitator: control, restart: seller.restart, ...options },
  }).finally(() => seller.open())
}

/** Checks the faulty seller with one mistake, or none, by these cases. */
export async function checkMistake(
  setup: SelfTestSetup,
  mistake: string | undefined,
  cases: readonly Case[] = catalogue,
): Promise<MistakeResult> {
  return verdictOf(mistake, await runAgainst(setup, mistake, { cases }))
}

/** The cases in which a mistake would have changed an answer, by its name. */
export type Touched = Readonly<Record<string, readonly string[]>>

const opening = 'opening'

/** Checks the seller without a mistake, and finds which cases each mistake could change. */
export async function checkCorrect(
  setup: SelfTestSetup,
  cases: readonly Case[] = catalogue,
): Promise<MistakeResult & { touched: Touched }> {
  const touched = new Map(Object.keys(mistakes).map((name) => [name, new Set<string>()]))
  let current = opening
  const watch = compareMistakes(
    () => current,
    (name, id) => touched.get(name)?.add(id),
  )
  const report = await runAgainst(setup, watch.mistake, {
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
export function casesTouched(touched: Touched, mistake: string, cases: readonly Case[] = catalogue): readonly Case[] {
  const ids = new Set([...(touched[mistake] ?? []), ...foundBy(mistake)])
  if (ids.has(opening)) return cases
  for (const [later, earlier] of Object.entries(comesBackFor)) if (ids.has(later)) ids.add(earlier)
  return cases.filter(({ id }) => ids.has(id))
}

function verdictOf(mistake: string | undefined, { cases }: Report): MistakeResult {
  const ids = cases.map(({ id }) => id)
  const expected = mistake === undefined ? [] : foundBy(mistake).filter((id) => ids.includes(id))
  const problems = cases.flatMap(({ id, verdict, seen }) =>
    verdict === (expected.includes(id) ? 'failed' : 'passed') ? [] : [`${id} ${verdict}: ${seen}`],
  )
  const failed = cases.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id)
  return { mistake, expected, checked: ids.length, failed, problems }
}

/** Cases without a mistake and mistakes without a case: both mean that nothing is proved. */
export function unmatched(cases: readonly Pick<Case, 'id'>[] = catalogue): string[] {
  const found = new Set(Object.keys(mistakes).flatMap(foundBy))
  const ids = new Set(cases.map(({ id }) => id))
  return [
    ...[...ids].filter((id) => !found.has(id)).map((id) => `no mistake for the case ${id}`),
    ...[...found].filter((id) => !ids.has(id)).map((id) => `no case for the mistake ${id}`),
  ]
}

/** The cases that failed, and what is wrong about that. */
export const rowText = ({ mistake = noMistake, failed, problems }: MistakeResult, width = 0): string =>
  [
    `${problems.length === 0 ? 'ok  ' : 'BAD '} ${mistake.padEnd(width)}  ${failed.join(', ') || 'nothing failed'}`,
    ...problems.map((problem) => `       ${problem}`),
  ].join('\n')

/** A row for each mistake. */
export function matrixText(verdicts: readonly MistakeResult[]): string {
  const width = Math.max(...verdicts.map(({ mistake = noMistake }) => mistake.length))
  const rows = verdicts.map((verdict) => rowText(verdict, width))
  const good = verdicts.filter(({ problems }) => problems.length === 0).length
  const perLevel = levels.map((level) => `${level} ${catalogue.filter((one) => one.level === level).length}`)
  return [...rows, `${good} of ${verdicts.length} rows as expected; cases: ${perLevel.join(', ')}`].join('\n')
}

const noMistake = '(no mistake)'
