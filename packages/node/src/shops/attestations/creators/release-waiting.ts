import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { creditLines } from '@assay/till/internal'
import { accounts, type LedgerLine, type LedgerTransaction, lockBalances, mergeLines, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { creatorAccounts } from '../accounts.ts'
import { accruedAccount } from './accrue.ts'
import type { CreatorDeps } from './deps.ts'
import { type CitedHost, findPayee, findPayees, type Payee } from './payee.ts'

const domainsAtOnce = 200
const rowsAtOnce = 1_000
/** After a release: a sale that was under way during the proof may have left one more share. */
const refetchMs = 3_600_000

/** Pays what waited for a proof to the wallet that proved the domain, some days after the proof so that it can be contested. */
export async function releaseWaiting(deps: CreatorDeps): Promise<number> {
  let released = 0
  for (;;) {
    const { looked, payable } = await setAside(deps)
    for (const domain of payable) released += await releaseDomain(deps, domain)
    if (looked === 0) return released
  }
}

/**
 * Domains that something happened to, or whose time has come. Those that nobody can be paid for are set aside together,
 * until something happens to them again.
 */
async function setAside({ database, clock }: CreatorDeps): Promise<{ looked: number; payable: string[] }> {
  return database.transaction(async (tx) => {
    // Locked before the payees are read: a proof that comes now calls for its own look afterwards.
    const { rows } = await tx.query<CitedHost>({
      name: 'creator_waiting_due',
      text: `select domain, registrable from creator_waiting where look_at <= $1 order by look_at limit $2
        for update skip locked`,
      values: [new Date(clock.nowMs()), domainsAtOnce],
    })
    if (rows.length === 0) return { looked: 0, payable: [] }
    const payees = await findPayees(tx, rows)
    const isPayable = (_: CitedHost, index: number) => payees[index]?.wallet !== undefined
    const unpayable = rows.filter((row, index) => !isPayable(row, index))
    await tx.query(`update creator_waiting set look_at = 'infinity' where domain = any($1)`, [
      unpayable.map(({ domain }) => domain),
    ])
    return { looked: rows.length, payable: rows.filter(isPayable).map(({ domain }) => domain) }
  })
}

async function releaseDomain(deps: CreatorDeps, domain: string): Promise<number> {
  const later = (tx: Tx, at: Date | 'infinity') =>
    tx.query('update creator_waiting set look_at = $2 where domain = $1', [domain, at])
  return deps.database.transaction(async (tx) => {
    const { rows } = await tx.query<{ registrable: string }>(
      'select registrable from creator_waiting where domain = $1 and look_at <= $2 for update skip locked',
      [domain, new Date(deps.clock.nowMs())],
    )
    const [waiting] = rows
    if (!waiting) return 0
    const payee = await findPayee(tx, domain, waiting.registrable)
    const dueMs = await dueAt(deps, tx, payee)
    if (payee.wallet === undefined || dueMs === undefined || dueMs > deps.clock.nowMs()) {
      await later(tx, dueMs === undefined ? 'infinity' : new Date(dueMs))
      return 0
    }
    const moved = await moveTo(deps, tx, domain, payee)
    if (moved < rowsAtOnce) await later(tx, new Date(deps.clock.nowMs() + refetchMs))
    return moved
  })
}

/** When the proof can no longer be contested; undefined without one. */
async function dueAt({ settings }: CreatorDeps, tx: Tx, payee: Payee): Promise<number | undefined> {
  if (payee.claimId === undefined) return undefined
  const { rows } = await tx.query<{ at: Date | null }>(
    'select greatest(proven_at, wallet_proven_at) as at from source_claim where id = $1',
    [payee.claimId],
  )
  const at = rows[0]?.at
  return at ? at.getTime() + settings.releaseMs : undefined
}

type Waiting = {
  id: bigint
  subject: string
  payment_id: string
  network: string
  registrable: string
  shard: number
  micro: Micro
  payer: Address
}

async function moveTo(deps: CreatorDeps, tx: Tx, domain: string, payee: Payee): Promise<number> {
  const wallet = payee.wallet as Address
  const { rows } = await tx.query<Waiting>(
    `select id, subject, payment_id, network, registrable, shard, micro, payer from creator_accrual where state = 'waiting' and domain = $1
     order by id limit $2 for update`,
    [domain, rowsAtOnce],
  )
  await tx.query(
    `update creator_accrual c set state = 'accrued', wallet = $2, payee_domain = $5, released_at = $3,
       held_until = case when s.own = '' then c.held_until else greatest(c.held_until, $4) end,
       held_reason = case when s.own = '' then c.held_reason else concat_ws(', ', c.held_reason, s.own) end
     from (select a.id, concat_ws(', ', case when a.payer = $2 then 'payer_is_creator' end,
         case when t.agent = $2 then 'agent_is_creator' end) as own
       from creator_accrual a left join attestation t on t.id = a.subject where a.id = any($1::bigint[])) s
     where c.id = s.id`,
    [
      rows.map(({ id }) => id),
      wallet,
      new Date(deps.clock.nowMs()),
      new Date(deps.clock.nowMs() + deps.challengeMs),
      payee.domain,
    ],
  )
  await checkAgain(tx, rows, wallet)
  await post(
    tx,
    byPayment(rows).map((own) =>
      movePosting(
        'creator_release',
        own,
        own.map(({ network, shard, micro }) => ({ account: accruedAccount(network, wallet, shard), amount: -micro })),
      ),
    ),
  )
  return rows.length
}

/** Nobody could say that somebody cited himself while it was not known who is paid. */
async function checkAgain(tx: Tx, rows: readonly Waiting[], wallet: Address): Promise<void> {
  await tx.query(
    `update attestation t set checked_at = null, wash = array(select distinct w from unnest(t.wash || array_remove(array[
       case when t.payer = $2 then 'payer_is_creator' end, case when t.agent = $2 then 'agent_is_creator' end], null)) w
       order by w) where t.id = any($1)`,
    [rows.map(({ subject }) => subject), wallet],
  )
}

/** Published rule: a share of a domain that nobody proved in time is returned to its payer as credit. */
export async function expireWaiting(deps: CreatorDeps): Promise<number> {
  return deps.database.transaction(async (tx) => {
    const { rows } = await tx.query<Waiting>(
      `select id, subject, payment_id, network, registrable, shard, micro, payer from creator_accrual
       where state = 'waiting' and created_at <= $1 order by created_at limit $2 for update skip locked`,
      [new Date(deps.clock.nowMs() - deps.settings.waitMs), rowsAtOnce],
    )
    if (rows.length === 0) return 0
    await tx.query(`update creator_accrual set state = 'expired', released_at = $2 where id = any($1::bigint[])`, [
      rows.map(({ id }) => id),
      new Date(deps.clock.nowMs()),
    ])
    await postExpired(tx, rows)
    return rows.length
  })
}

/** What a payer owes since a reorg took money that it had used is set off first, and each debt once. */
async function postExpired(tx: Tx, rows: readonly Waiting[]): Promise<void> {
  const owing = await payersOwing(tx, rows)
  const repaid = new Set<string>()
  const postings: LedgerTransaction[] = []
  // One order for everybody who locks several wallets.
  const groups = byPayment(rows).sort(([a], [b]) => ((a as Waiting).payer < (b as Waiting).payer ? -1 : 1))
  for (const own of groups) {
    const { network, payer } = own[0] as Waiting
    const micro = own.reduce((sum, row) => sum + row.micro, 0n)
    const debtor = `${network} ${payer}`
    // A debt is read from what is posted: of two shares the second must see what the first has paid of it.
    if (owing.has(debtor) && repaid.has(debtor)) await post(tx, postings.splice(0))
    if (owing.has(debtor)) repaid.add(debtor)
    const lines = owing.has(debtor)
      ? await creditLines(tx, network, payer, micro)
      : [{ account: accounts.credit(network, payer), amount: -micro }]
    postings.push(movePosting('creator_expire', own, lines))
  }
  await post(tx, postings)
}

async function payersOwing(tx: Tx, rows: readonly Waiting[]): Promise<Set<string>> {
  // Before the read: a reorg that is just being recorded may leave a debt that nobody sees yet.
  await lockBalances(
    tx,
    rows.map(({ network, payer }) => accounts.credit(network, payer)),
  )
  const names = new Map(
    rows.map(({ network, payer }) => [accounts.receivable(network, payer, 'credit').name, `${network} ${payer}`]),
  )
  const { rows: known } = await tx.query<{ name: string }>('select name from ledger_account where name = any($1)', [
    [...names.keys()],
  ])
  return new Set(known.map(({ name }) => names.get(name) as string))
}

/** Shares of one payment on one chain together: nothing is netted between chains. */
export function byPayment<Row extends { network: string; payment_id: string }>(rows: readonly Row[]): Row[][] {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const key = `${row.network} ${row.payment_id}`
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return [...groups.values()]
}

/** Under the name of the payment, so that a refund or a reorg of it takes the share from where it is by then. */
function movePosting(kind: string, own: readonly Waiting[], lines: readonly LedgerLine[]): LedgerTransaction {
  const { network, payment_id } = own[0] as Waiting
  return {
    reference: `${kind}:${network}:${own.at(-1)?.id}`,
    kind,
    paymentId: payment_id,
    lines: mergeLines([
      ...own.map(({ registrable, shard, micro }) => ({
        account: creatorAccounts.waiting(network, registrable, shard),
        amount: micro,
      })),
      ...lines,
    ]),
  }
}
