import { randomBytes } from 'node:crypto'
import type { LocalAccount } from 'viem'
import { type Case, type Finding, type Level, levels, type Need, skipped, type Verdict } from './case.ts'
import { catalogue } from './catalogue.ts'
import type { FacilitatorControl } from './facilitator/control.ts'
import { forbidden, readPermission } from './permission.ts'
import { BudgetExceeded, createBudget, type Signature } from './seller/budget.ts'
import { type Exchange, openSeller, type Seller } from './seller/seller.ts'
import type { Time } from './time.ts'

export type RunOptions = {
  url: string
  body?: string | undefined
  /** Another paid route of the same seller. */
  otherUrl?: string | undefined
  /** Pays. A throwaway wallet: everything it signs is in the report. */
  account: LocalAccount
  /** Units that may be signed in all. */
  capMicro: bigint
  rpc?: string | undefined
  facilitator?: FacilitatorControl | undefined
  restart?: (() => Promise<void>) | undefined
  /** False where the wallet is not to pay: cases that need a payment are skipped. */
  mayPay: boolean
  /** Cases by id, or levels. */
  only?: readonly string[] | undefined
  /** Instead of the catalogue. */
  cases?: readonly Case[] | undefined
  /** How long a buyer asks again for what it paid for; default 30,000. */
  patienceMs?: number
  /** Every place is tried where a few would do: takes long, and signs much. */
  isThorough?: boolean
  /** Only of a test whose seller and chain have the same one. */
  time?: Time
  /** A nonce of this run, which a host that is not on this machine must serve. */
  nonce?: string
  onProgress?(case_: Case, finding: Finding | undefined): void
}

export type CaseResult = Pick<Case, 'id' | 'level' | 'title' | 'why' | 'fix'> &
  Finding & { ms: number; exchanges: readonly Exchange[] }

export type Report = {
  url: string
  at: string
  nonce: string
  price: { amount: string; asset: string; network: string }
  /** The highest level up to which nothing failed and at least one case of each level was checked. */
  reached: Level | null
  counts: Record<Verdict, number>
  cases: readonly CaseResult[]
  signatures: readonly Signature[]
}

export class UnknownCase extends Error {}

export async function checkSeller(options: RunOptions): Promise<Report> {
  const chosen = choose(options.cases ?? catalogue, options.only)
  const nonce = options.nonce ?? newRunNonce()
  const budget = createBudget(options.capMicro)
  const open = await openSeller({ ...options, budget })
  const seller = open('quote', [])
  const permission = await readPermission(seller.url, seller.isLoopback, nonce)
  const paysByMpp = (one: Case) => one.needs.includes('mpp') && one.needs.includes('payment')
  const mayPayByMpp = (one: Case) => paysByMpp(one) && refusalOf(one) === undefined
  const refusalOf = (one: Case) => forbidden(one, permission) ?? missing(one, seller, options.mayPay)
  if (chosen.some(mayPayByMpp)) seller.mpp?.challenges.prepare()
  const cases: CaseResult[] = []
  for (const one of chosen) {
    options.onProgress?.(one, undefined)
    const exchanges: Exchange[] = []
    const startedMs = Date.now()
    const refusal = refusalOf(one)
    const finding = refusal === undefined ? await runCase(one, open(one.id, exchanges)) : skipped(refusal)
    options.onProgress?.(one, finding)
    const { id, level, title, why, fix } = one
    cases.push({
      id,
      level,
      title,
      why,
      fix,
      ...finding,
      ms: Date.now() - startedMs,
      exchanges: exchanges.slice(0, 60),
    })
  }
  const { amount, asset, network } = seller.offer
  return {
    ...{ url: options.url, at: new Date().toISOString(), nonce, price: { amount, asset, network } },
    ...{ reached: reachedLevel(cases), counts: countVerdicts(cases), cases, signatures: budget.signatures() },
  }
}

export const newRunNonce = (): string => randomBytes(16).toString('hex')

function choose(cases: readonly Case[], only: readonly string[] | undefined): readonly Case[] {
  if (only === undefined || only.length === 0) return cases
  const unknown = only.filter((name) => !cases.some(({ id, level }) => id === name || level === name))
  if (unknown.length > 0) throw new UnknownCase(`no such case or level: ${unknown.join(', ')}`)
  return cases.filter(({ id, level }) => only.includes(id) || only.includes(level))
}

const needTexts: Record<Need, string> = {
  payment: 'needs a wallet that may pay',
  chain: 'needs --rpc, or the facilitator of this suite',
  facilitator: 'needs the seller to settle through the facilitator of this suite',
  loopback: 'only for sellers on this machine',
  restart: 'needs --start, the command that starts the seller',
  other_route: 'needs --other-route, another paid route of the seller',
  mpp: 'the seller does not offer MPP (method evm, intent charge) on this network',
  permit2: 'the seller takes no Permit2 signatures on this network',
  upto: 'the seller does not offer the scheme upto on this network',
  channels: 'the seller does not offer the scheme batch-settlement on this network',
}

function missing({ needs }: Case, seller: Seller, mayPay: boolean): string | undefined {
  const has: Record<Need, boolean> = {
    payment: mayPay,
    chain: seller.chain !== undefined,
    facilitator: seller.facilitator !== undefined,
    loopback: seller.isLoopback,
    restart: seller.restart !== undefined,
    other_route: seller.otherRoute !== undefined,
    mpp: seller.mpp !== undefined,
    permit2: seller.permit2.length > 0,
    upto: seller.permit2.some(({ offer }) => offer.scheme === 'upto'),
    channels: seller.newChannel !== undefined,
  }
  const absent = needs.find((need) => !has[need])
  return absent === undefined ? undefined : needTexts[absent]
}

/** A case that fails itself says nothing about the seller. */
async function runCase(one: Case, seller: Seller): Promise<Finding> {
  try {
    return await one.run(seller)
  } catch (error) {
    if (error instanceof BudgetExceeded) return skipped(error.message)
    return { verdict: 'unclear', seen: `the case could not be run: ${String(error).slice(0, 200)}` }
  }
}

export function countVerdicts(cases: readonly Finding[]): Record<Verdict, number> {
  const count = (verdict: Verdict) => cases.filter((one) => one.verdict === verdict).length
  return {
    ...{ passed: count('passed'), failed: count('failed') },
    ...{ unclear: count('unclear'), skipped: count('skipped') },
  }
}

export function reachedLevel(cases: readonly Pick<CaseResult, 'level' | 'verdict'>[]): Level | null {
  let reached: Level | null = null
  for (const level of levels) {
    const own = cases.filter((one) => one.level === level)
    if (own.some(({ verdict }) => verdict === 'failed') || !own.some(({ verdict }) => verdict === 'passed')) break
    reached = level
  }
  return reached
}
