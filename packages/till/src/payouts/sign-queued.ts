import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import type { ChainPort } from '../chain/index.ts'
import { SignerRefused } from '../chain/wallet/index.ts'
import { fromHex } from '../kernel/bytes.ts'
import { type Clock, nowSeconds } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Database } from '../store/database.ts'
import { readDatabaseId } from '../store/instance.ts'
import { alarmAboveLimit } from './collect-due.ts'
import type { CustodyKey } from './custody-key.ts'
import { freeCustody } from './free-custody.ts'
import { payoutNonce } from './identity.ts'
import { authorizationOf, type Payout, payoutColumns, toPayout } from './payout-record.ts'
import { dailyLimitOf, type PayoutPolicy } from './policy.ts'
import { operatorPurposes } from './purposes.ts'

export type SignDeps = {
  database: Database
  clock: Clock
  log: Log
  metrics: Metrics
  policy: PayoutPolicy
  committedMicro?(network: string): Promise<Micro>
}

/** Payouts that cannot be paid now stay in the queue; this many are checked to find some that can. */
const pageSize = 500
const pagesMax = 40

/**
 * Signs what may be paid now: within the day's limit of its purpose, and only from money that is final at the custody
 * wallet and not already owed to somebody else. The bytes are stored before they leave this function.
 */
export async function signQueued(deps: SignDeps, chain: ChainPort, key: CustodyKey): Promise<number> {
  const { database, policy } = deps
  const network = chain.network.caip2
  let page = await readQueued(database, network, undefined)
  if (page.length === 0) return 0
  const money = await freeCustody(database, chain, key.address, deps.committedMicro)
  const leftToday = await limitsToday(deps, network)
  const { number: headBlock } = await chain.head()
  const chosen: Payout[] = []
  const unfunded: Payout[] = []
  for (let pages = 1; page.length > 0; pages += 1) {
    for (const payout of page) {
      if (chosen.length >= policy.batchMax) break
      const verdict = await decide(deps, payout, leftToday, money)
      if (verdict === 'chosen') chosen.push(payout)
      if (verdict === 'unfunded') unfunded.push(payout)
    }
    if (chosen.length >= policy.batchMax || page.length < pageSize || pages >= pagesMax) break
    page = await readQueued(database, network, page.at(-1))
  }
  alarmUnfunded(deps, network, unfunded)
  return chosen.length === 0 ? 0 : storeSigned(deps, chain, key, chosen, headBlock)
}

type Verdict = 'chosen' | 'daily_limit' | 'unfunded' | 'above_daily_limit' | 'signer_refused'

async function decide(
  deps: SignDeps,
  payout: Payout,
  leftToday: (purpose: string) => { micro: Micro },
  money: Awaited<ReturnType<typeof freeCustody>>,
): Promise<Verdict> {
  const left = leftToday(payout.purpose)
  const aboveLimit = payout.countedMicro > dailyLimitOf(deps.policy, payout.purpose)
  if (aboveLimit && payout.approvedBy === null) return waitForPerson(deps, payout)
  // A person let it pass, so the day does not decide.
  if (!aboveLimit && payout.countedMicro > left.micro) return recordReason(deps.database, payout, 'daily_limit')
  if (!money.take(payout)) return recordReason(deps.database, payout, 'unfunded')
  left.micro -= payout.countedMicro
  return 'chosen'
}

async function waitForPerson(deps: SignDeps, payout: Payout): Promise<Verdict> {
  const { rowCount } = await deps.database.query(
    `update payout set state = 'waiting', reason = 'above_daily_limit' where id = $1 and state = 'queued'`,
    [payout.id],
  )
  if (rowCount > 0) alarmAboveLimit(deps, payout)
  return 'above_daily_limit'
}

function alarmUnfunded({ metrics, log }: SignDeps, network: string, unfunded: readonly Payout[]): void {
  const [first] = unfunded
  if (!first) return
  metrics.count('alarms', { alarm: 'payouts_unfunded' })
  log.error(
    {
      network,
      payout: first.id,
      payouts: unfunded.length,
      due_micro: unfunded.reduce((sum, { amountMicro }) => sum + amountMicro, 0n).toString(),
    },
    'the custody wallet does not hold enough final money for payouts',
  )
}

/** Those that wait for the operator's money come last: however many there are, they do not block others. */
async function readQueued(database: Database, network: string, after: Payout | undefined): Promise<Payout[]> {
  const own = await operatorPurposes(database)
  const { rows } = await database.query(
    `select ${payoutColumns} from payout p where network = $1 and state = 'queued'
       and ($3::timestamptz is null or (purpose = any($5::text[]), created_at, id) > ($6, $3, $4))
       and not exists (select from payout_hold h where h.network = p.network and h.payee = p.payee)
     order by purpose = any($5::text[]), created_at, id limit $2`,
    [
      network,
      pageSize,
      after?.createdAt ?? null,
      after?.id ?? null,
      [...own],
      after !== undefined && own.has(after.purpose),
    ],
  )
  return rows.map(toPayout)
}

/** What each purpose may still send today; changed as payouts are chosen. */
async function limitsToday(
  { database, clock, policy }: SignDeps,
  network: string,
): Promise<(purpose: string) => { micro: Micro }> {
  const { rows } = await database.query<{ purpose: string; micro: Micro }>(
    `select purpose, sum(greatest(amount_micro - uncounted_micro, 0))::bigint as micro from payout
     where network = $1 and signed_at > $2 and state in ('signed', 'parked', 'paid') group by purpose`,
    [network, new Date(clock.nowMs() - 86_400_000)],
  )
  const left = new Map(
    rows.map(({ purpose, micro }) => [purpose, { micro: dailyLimitOf(policy, purpose) - micro }] as const),
  )
  return (purpose) => {
    const known = left.get(purpose) ?? { micro: dailyLimitOf(policy, purpose) }
    left.set(purpose, known)
    return known
  }
}

async function recordReason<Reason extends Verdict>(
  database: Database,
  payout: Payout,
  reason: Reason,
): Promise<Reason> {
  if (payout.reason !== reason)
    await database.query(`update payout set reason = $2 where id = $1 and state = 'queued'`, [payout.id, reason])
  return reason
}

/** The nonce that a payout has or will have. */
export function nonceOf(databaseId: string, chain: ChainPort, key: Pick<CustodyKey, 'address'>, payout: Payout): Hex {
  const { caip2: network, usdc } = chain.network
  return payoutNonce(databaseId, { ...payout, network, asset: usdc.address, custody: key.address })
}

async function storeSigned(
  deps: SignDeps,
  chain: ChainPort,
  key: CustodyKey,
  payouts: readonly Payout[],
  headBlock: bigint,
): Promise<number> {
  const databaseId = await readDatabaseId(deps.database)
  const validBefore = BigInt(nowSeconds(deps.clock) + deps.policy.validSeconds)
  const signed: { id: string; nonce: Hex; signature: Hex }[] = []
  for (const payout of payouts) {
    const nonce = nonceOf(databaseId, chain, key, payout)
    const { authorization } = authorizationOf({ ...payout, payer: key.address, nonce, validBefore, signature: '0x' })
    try {
      signed.push({ id: payout.id, nonce, signature: await key.authorize(chain.network, authorization) })
    } catch (error) {
      if (!(await staysQueued(deps, payout, error))) break
    }
  }
  if (signed.length === 0) return 0
  await deps.database.query(
    `update payout p set state = 'signed', reason = null, payer = $4, valid_before = $5, signed_at = $6, head_block = $7,
       nonce = t.nonce, signature = t.signature
     from unnest($1::text[], $2::bytea[], $3::bytea[]) t (id, nonce, signature) where p.id = t.id and p.state = 'queued'`,
    [
      signed.map(({ id }) => id),
      signed.map(({ nonce }) => fromHex(nonce)),
      signed.map(({ signature }) => fromHex(signature)),
      key.address,
      validBefore,
      new Date(deps.clock.nowMs()),
      headBlock,
    ],
  )
  return signed.length
}

/**
 * It waits for the signer or for a person; payouts signed before it continue. False: asking the signer for more is
 * useless.
 */
async function staysQueued({ database, metrics, log }: SignDeps, payout: Payout, error: unknown): Promise<boolean> {
  const refused = error instanceof SignerRefused
  if (refused) {
    await recordReason(database, payout, 'signer_refused')
    metrics.count('alarms', { alarm: 'signer_refused' })
  }
  log.error({ payout: payout.id, error: String(error) }, 'a payout could not be signed and waits')
  return refused
}
