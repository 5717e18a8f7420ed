import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { type Account, accounts, balanceOf, lockAccounts, lockBalances, owedTo, post } from '../ledger/index.ts'
import type { Database, Sql, Tx } from '../store/database.ts'
import { createPayout } from './create-payout.ts'
import { debtAccount } from './debt-account.ts'
import { dailyLimitOf, type PayoutPolicy } from './policy.ts'
import type { PayoutPurpose } from './purposes.ts'

export type CollectDeps = {
  database: Database
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  policy: PayoutPolicy
}

const perRunMax = 1_000

/** Makes a payout of every debt that has reached the minimum, whose payee is not held and has none under way. */
export async function collectDue(
  deps: CollectDeps,
  network: string,
  { purpose, minimumMicro = deps.policy.minimumMicro, paidInBy = [] }: PayoutPurpose,
): Promise<number> {
  const { rows } = await deps.database.query<{ payee: Address }>({
    name: 'read_payees_due',
    text: `select a.owner as payee from payout_due d
       join ledger_account a on a.id = d.account_id join ledger_balance b on b.account_id = d.account_id
     where a.network = $1 and a.purpose = $2
       and not exists (select from payout p where p.network = $1 and p.purpose = $2 and p.account = a.owner
         and p.state in ('waiting','queued','signed','parked'))
       and not exists (select from payout_hold h where h.network = $1 and h.payee = a.owner)
     order by b.owed_micro desc limit $3`,
    values: [network, purpose, perRunMax],
  })
  if (rows.length === 0) return 0
  const since = await oldestNotFinal(deps.database, network)
  for (const { payee } of rows) await collectOne(deps, network, { purpose, minimumMicro, paidInBy, since }, payee)
  return rows.length
}

async function collectOne(
  deps: CollectDeps,
  network: string,
  { purpose, minimumMicro, paidInBy, since }: Required<PayoutPurpose> & { since: bigint },
  payee: Address,
): Promise<void> {
  const source = accounts.payable(network, payee, purpose)
  const id = deps.ids.next('po')
  const limitMicro = dailyLimitOf(deps.policy, purpose)
  const created = await deps.database.transaction(async (tx) => {
    // The reversal of a sale reads the same balance: one of the two sees what the other did.
    await lockAccounts(tx, [source, await debtAccount(tx, network, payee, purpose)])
    // Nothing is added to it meanwhile, or a share that comes now would be taken off the list with those before.
    await lockBalances(tx, [source])
    const owedMicro = await owedTo(tx, source)
    const finalMicro = owedMicro - (await notFinal(tx, network, source, since))
    const setOffMicro = await setOffDebt(tx, { network, payee, purpose, finalMicro, id })
    const amountMicro = finalMicro - setOffMicro
    const isDue = amountMicro > 0n && amountMicro >= minimumMicro
    // What a reorg could still take is checked again until it is final; less than the minimum when more is added.
    const restMicro = owedMicro - setOffMicro - (isDue ? amountMicro : 0n)
    if (restMicro < minimumMicro || restMicro === 0n) await takeOffList(tx, source)
    if (!isDue) return undefined
    const recentMicro = await stillPaidIn(tx, { network, payee, purpose, paidInBy }, deps.clock.nowMs())
    const uncountedMicro = smallerOf(recentMicro, amountMicro)
    const aboveLimit = amountMicro - uncountedMicro > limitMicro
    const outcome = await createPayout(tx, {
      id,
      network,
      payee,
      amountMicro,
      uncountedMicro,
      purpose,
      from: [{ account: source, amount: amountMicro }],
      source,
      approved: amountMicro <= deps.policy.approvalMicro && !aboveLimit,
      ...(aboveLimit ? { reason: 'above_daily_limit' } : {}),
      nowMs: deps.clock.nowMs(),
    })
    return outcome.status === 'created' && aboveLimit ? 'above_limit' : outcome.status
  })
  if (created === 'above_limit') alarmAboveLimit(deps, { id, network, purpose })
}

type PaidIn = { network: string; payee: Address; purpose: string; paidInBy: readonly string[] }

/** How long money counts as recently paid in. */
export const recentMs = 30 * 86_400_000

/** What a wallet paid in recently by final payments or from credit, less what it got back since: see `recentlyPaidIn` of credit. */
async function stillPaidIn(tx: Tx, { network, payee, purpose, paidInBy }: PaidIn, nowMs: number): Promise<Micro> {
  if (paidInBy.length === 0) return 0n
  const { rows } = await tx.query<{ micro: Micro }>(
    `select greatest(0,
       (select coalesce(sum(amount_micro), 0) from payment p where network = $1 and payer = $2 and ended_at > $3 and final
          and state = 'served' and route_id = any($4::text[]) and not exists (select from refund r where r.payment_id = p.id))
       + (select coalesce(sum(amount), 0) from entitled_call c where port = 'credit' and account = $2 and subject = $1
          and state = 'captured' and ended_at > $3 and route_id = any($4::text[])
          and not exists (select from refund r where r.payment_id = c.id))
       - (select coalesce(sum(amount_micro), 0) from payout where network = $1 and payee = $2 and purpose = $5
          and created_at > $3 and state <> 'returned'))::bigint as micro`,
    [network, payee, new Date(nowMs - recentMs), paidInBy, purpose],
  )
  return rows[0]?.micro ?? 0n
}

async function takeOffList(tx: Tx, { name }: Account): Promise<void> {
  await tx.query('delete from payout_due where account_id = (select id from ledger_account where name = $1)', [name])
}

/** No day would ever have room for it: a person must decide. */
export function alarmAboveLimit(
  { log, metrics }: Pick<CollectDeps, 'log' | 'metrics'>,
  payout: { id: string; network: string; purpose: string },
): void {
  metrics.count('alarms', { alarm: 'payout_above_limit' })
  const { id, network, purpose } = payout
  log.error({ payout: id, network, purpose }, 'a payout is above the daily limit of its purpose and waits for approval')
}

type Debt = { network: string; payee: Address; purpose: string; finalMicro: Micro; id: string }

/** What the payee got too much of before comes off what it is owed now. */
async function setOffDebt(tx: Tx, { network, payee, purpose, finalMicro, id }: Debt): Promise<Micro> {
  const debt = await debtAccount(tx, network, payee, purpose)
  const owes = await balanceOf(tx, debt)
  const setOffMicro = owes > 0n && finalMicro > 0n ? smallerOf(owes, finalMicro) : 0n
  if (setOffMicro > 0n)
    await post(tx, [
      {
        reference: `payout_set_off:${id}`,
        kind: 'set_off',
        lines: [
          { account: accounts.payable(network, payee, purpose), amount: setOffMicro },
          { account: debt, amount: -setOffMicro },
        ],
      },
    ])
  return setOffMicro
}

/** Payments of a network that a reorg could still take away, and calls drawn on credit by wallets that have such payments. */
const notFinalSql = `with young as (
    select id, payer, claimed_at from payment
    where network = $1 and not final and phase in ('settled', 'served', 'credited')),
  taken as (
    select id from young union all
    select c.id from entitled_call c where c.port = 'credit' and c.state = 'captured'
      and c.ended_at >= (select min(claimed_at) from young) and c.account in (select payer from young))`

/** Number of the first posting for any of them; what is posted from now on has a higher one. */
async function oldestNotFinal(sql: Sql, network: string): Promise<bigint> {
  const { rows } = await sql.query<{ first: bigint }>(
    `${notFinalSql} select coalesce(min(t.id), time_number(0)) as first
     from taken cross join lateral (select t.id from ledger_transaction t where t.payment_id = taken.id offset 0) t`,
    [network],
  )
  return rows[0]?.first ?? 0n
}

/**
 * The part of a debt that a reorg could still take away: from payments that are not final, and from calls drawn on credit
 * by wallets that have such payments. Custody may hold enough for it, but what it holds is somebody else's.
 */
async function notFinal(tx: Tx, network: string, { name }: Account, since: bigint): Promise<Micro> {
  const { rows } = await tx.query<{ micro: Micro }>(
    `${notFinalSql},
     recent as (select e.transaction_id, e.amount_micro from ledger_entry e
       where e.account_id = (select a.id from ledger_account a where a.name = $2) and e.transaction_id >= $3)
     select coalesce(-sum(e.amount_micro), 0)::bigint as micro from recent e
     where (select t.payment_id from ledger_transaction t where t.id = e.transaction_id) in (select id from taken)`,
    [network, name, since],
  )
  const micro = rows[0]?.micro ?? 0n
  return micro > 0n ? micro : 0n
}
