import { creditLines } from '@assay/till'
import type { Address } from '@assay/till/kernel/address'
import type { Micro } from '@assay/till/kernel/money'
import { accounts, type LedgerLine, type LedgerTransaction, lockBalances, post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { accruedAccount, mergeLines } from './accrue.ts'
import type { CreatorDeps } from './deps.ts'
import { findPayee, type Payee } from './payee.ts'

const domainsAtOnce = 200
const rowsAtOnce = 1_000

/** Gives what waited for a proof to whoever proved the domain, some days after the proof so that it can be contested. */
export async function releaseWaiting(deps: CreatorDeps): Promise<number> {
  let released = 0
  // All of them in every round: hosts that nobody proved must not stand before those that somebody did.
  for (let after = ''; ; ) {
    const domains = await readDue(deps, after)
    for (const { domain, registrable } of domains)
      released += await deps.database.transaction(async (tx) => {
        const payee = await findPayee(tx, domain, registrable)
        if (payee.wallet === undefined || !(await isSettled(deps, tx, payee))) return 0
        return moveTo(deps, tx, domain, payee.wallet)
      })
    if (domains.length < domainsAtOnce) return released
    after = domains.at(-1)?.domain ?? ''
  }
}

/** Domains with waiting shares under a name that was proven, on that host or another one. */
async function readDue(deps: CreatorDeps, after: string): Promise<{ domain: string; registrable: string }[]> {
  const { rows } = await deps.database.query<{ domain: string; registrable: string }>(
    `select distinct a.domain, a.registrable from creator_accrual a
     where a.state = 'waiting' and a.domain > $3 and exists (select from source s join source_claim c on c.id = s.proven_claim
       where s.registrable = a.registrable and s.state = 'proven' and c.wallet_proven_at is not null
         and greatest(c.proven_at, c.wallet_proven_at) <= $1
         and (s.domain = a.domain or (c.method = 'dns' and a.domain like '%.' || s.domain))) order by a.domain limit $2`,
    [new Date(deps.clock.nowMs() - deps.settings.releaseMs), domainsAtOnce, after],
  )
  return rows
}

async function isSettled(deps: CreatorDeps, tx: Tx, payee: Payee): Promise<boolean> {
  const { rows } = await tx.query<{ settled: boolean }>(
    'select greatest(proven_at, wallet_proven_at) <= $2 as settled from source_claim where id = $1',
    [payee.claimId, new Date(deps.clock.nowMs() - deps.settings.releaseMs)],
  )
  return rows[0]?.settled === true
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

async function moveTo(deps: CreatorDeps, tx: Tx, domain: string, wallet: Address): Promise<number> {
  const { rows } = await tx.query<Waiting>(
    `select id, subject, payment_id, network, registrable, shard, micro, payer from creator_accrual where state = 'waiting' and domain = $1
     order by id limit $2 for update`,
    [domain, rowsAtOnce],
  )
  await tx.query(
    `update creator_accrual c set state = 'accrued', wallet = $2, released_at = $3,
       held_until = case when s.own = '' then c.held_until else greatest(c.held_until, $4) end,
       held_reason = case when s.own = '' then c.held_reason else concat_ws(', ', c.held_reason, s.own) end
     from (select a.id, concat_ws(', ', case when a.payer = $2 then 'payer_is_creator' end,
         case when t.agent = $2 then 'agent_is_creator' end) as own
       from creator_accrual a left join attestation t on t.id = a.subject where a.id = any($1::bigint[])) s
     where c.id = s.id`,
    [rows.map(({ id }) => id), wallet, new Date(deps.clock.nowMs()), new Date(deps.clock.nowMs() + deps.challengeMs)],
  )
  await judgeAgain(tx, rows, wallet)
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
async function judgeAgain(tx: Tx, rows: readonly Waiting[], wallet: Address): Promise<void> {
  await tx.query(
    `update attestation t set judged_at = null, wash = array(select distinct w from unnest(t.wash || array_remove(array[
       case when t.payer = $2 then 'payer_is_creator' end, case when t.agent = $2 then 'agent_is_creator' end], null)) w
       order by w) where t.id = any($1)`,
    [rows.map(({ subject }) => subject), wallet],
  )
}

/** Published rule: what nobody proved in time goes back to whoever paid it, as credit. */
export async function expireWaiting(deps: CreatorDeps): Promise<number> {
  return deps.database.transaction(async (tx) => {
    const { rows } = await tx.query<Waiting>(
      `select id, subject, payment_id, network, registrable, shard, micro, payer from creator_accrual
       where state = 'waiting' and created_at <= $1 order by id limit $2 for update skip locked`,
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
  // Before the look: a reorg that is just being written down may leave a debt that nobody sees yet.
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
function byPayment(rows: readonly Waiting[]): Waiting[][] {
  const groups = new Map<string, Waiting[]>()
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
        account: accounts.creatorWaiting(network, registrable, shard),
        amount: micro,
      })),
      ...lines,
    ]),
  }
}
