import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { ClaimedPayment } from '../contract/payment-record.ts'
import { fromHex } from '../kernel/bytes.ts'
import { firstIdAt } from '../kernel/ids.ts'
import type { Database, Tx } from '../store/database.ts'
import { sqlStateOf } from '../store/errors.ts'
import { authorizationSecondsMax } from '../store/restore.ts'
import {
  type ClaimOutcome,
  claimKey,
  decideClaim,
  inFlightPerPayerMax,
  isLeftUnsettled,
  undeliveredAnswerHours,
} from '../transitions/decide-claim.ts'
import { lostAnswerStates, type PaymentState, sqlList } from '../transitions/payment-state.ts'
import { answeredBefore, moves } from '../transitions/state-changes.ts'

/** All that is known at the moment a payment is claimed; the row is the stored quote. */
export type Claim = ClaimedPayment & {
  payerIsKey: boolean
  /** Balance of the payer as just read: claims in flight may not exceed it. */
  balanceMicro: Micro
  /** Set once an undelivered earlier payment was checked and found to be another purchase. */
  ignoreUndelivered: boolean
}

/**
 * Claims a whole batch in one durable statement. Order inside it: what is known already is left alone, then the payer's
 * in-flight count rises where balance and count allow, then the claim is taken, and only then the payment is inserted.
 * What is left after a step is looked up as a set (`not in`): the planner expects a row or two, and a join would go through
 * all of them for each. Earlier ones are asked for one by one through their keys: a plan is kept, and a join that was chosen
 * while there were few would read all of them. An answer can be lost for its shelf life; no payment is claimed again after
 * its authorization has run out, so older ids are in partitions that nobody reads.
 */
const claimSql = `
with input as (
  select * from unnest(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::bigint[], $9::bigint[],
    $10::text[], $11::text[], $12::bytea[], $13::bytea[], $14::text[], $15::text[], $16::boolean[], $17::bigint[],
    $18::bigint[], $19::boolean[], $23::boolean[], $24::bytea[], $25::text[], $27::boolean[]
  ) as t(id, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource, fingerprint,
         identifier_hash, ref, aff, revocable, head_block, balance_micro, ignore_undelivered, payer_is_key, signed_digest, scheme, adds_credit)
),
undelivered as (
  select i.id, p.id as payment_id from input i
  cross join lateral (
    select p.id from payment p where p.payer = i.payer and p.fingerprint = i.fingerprint and p.open_to_payer and p.delivered_at is null
      and (p.network = i.network or i.payer_is_key)
      and p.state in ${sqlList(lostAnswerStates)} and (p.client_gone or p.owner <> $20)
      and p.claimed_at > $21::timestamptz - ${undeliveredAnswerHours} * interval '1 hour' and p.id >= $26
    order by p.client_gone desc, p.claimed_at limit 1) p
  where not i.ignore_undelivered
),
fresh as (
  select i.* from input i
  where not exists (select 1 from undelivered u where u.id = i.id)
    and (select 1 from claim c where c.payer = i.payer and c.network = claim_network(i.network, i.payment_key)
      and c.payment_key = i.payment_key) is null
    and (select 1 from claim c where c.payer = i.payer and c.identifier_hash = i.identifier_hash) is null
),
flight as (
  insert into payer_in_flight as f (network, payer, in_flight, in_flight_micro)
  select network, payer, 1, amount_micro from fresh where amount_micro <= balance_micro
  order by payer, network
  on conflict (payer, network) do update
    set in_flight = f.in_flight + 1, in_flight_micro = f.in_flight_micro + excluded.in_flight_micro
    where f.in_flight < ${inFlightPerPayerMax}
      and f.in_flight_micro + excluded.in_flight_micro <= (
        select balance_micro from fresh where fresh.network = excluded.network and fresh.payer = excluded.payer)
  returning f.network, f.payer
),
taken as (
  insert into claim (payer, network, payment_key, payment_id, identifier_hash)
  select payer, claim_network(network, payment_key), payment_key, id, identifier_hash from fresh
  where not ((network, payer) not in (select network, payer from flight))
  on conflict do nothing
  returning payment_id as id
),
claimed as (
  insert into payment (id, state, network, asset, payer, scheme, payment_key, pay_to, payee, quoted_micro, amount_micro, valid_before, route_id, resource,
    fingerprint, identifier_hash, ref, aff, revocable, owner, lease_until, claimed_at, head_block, signed_digest, adds_credit)
  select id, 'claimed', network, asset, payer, scheme, payment_key, pay_to, payee, amount_micro, amount_micro, valid_before, route_id, resource,
    fingerprint, identifier_hash, ref, aff, revocable, $20, (select lease_now()) + $22::integer * interval '1 millisecond', $21, head_block,
    signed_digest, adds_credit
  from fresh where not (id not in (select id from taken))
  returning id
)
select i.id, c.id is not null as claimed, u.payment_id as undelivered,
  f.payer is not null as flight, x.id is not null as fresh
from input i
left join claimed c on c.id = i.id
left join undelivered u on u.id = i.id
left join fresh x on x.id = i.id
left join flight f on x.id is not null and f.network = i.network and f.payer = i.payer`

type ClaimRow = { id: string; claimed: boolean; undelivered: string | null; flight: boolean; fresh: boolean }

/** A batch holds at most one claim per network and payer: the in-flight counter of a payer moves once per statement. */
export async function insertClaims(
  sql: Database | Tx,
  claims: readonly Claim[],
  worker: { owner: bigint; nowMs: number; leaseMs: number },
): Promise<ClaimOutcome[]> {
  const column = <K extends keyof Claim>(key: K) => claims.map((claim) => claim[key])
  const { rows } = await sql.query<ClaimRow>({
    name: 'payment-claim',
    text: claimSql,
    values: [
      column('id'),
      column('network'),
      column('asset'),
      column('payer'),
      claims.map((claim) => fromHex(claimKey(claim).key)),
      column('payTo'),
      column('payee'),
      column('amountMicro'),
      column('validBefore'),
      column('routeId'),
      column('resource'),
      column('fingerprint'),
      column('identifierHash'),
      column('ref'),
      column('aff'),
      column('revocable'),
      column('headBlock'),
      column('balanceMicro'),
      column('ignoreUndelivered'),
      worker.owner,
      new Date(worker.nowMs),
      worker.leaseMs,
      column('payerIsKey'),
      column('signedDigest'),
      column('scheme'),
      firstIdAt('pay', worker.nowMs - undeliveredAnswerHours * 3_600_000 - authorizationSecondsMax * 1_000),
      column('addsCredit'),
    ],
  })
  const byId = new Map(rows.map((row) => [row.id, row]))
  const outcomes: ClaimOutcome[] = []
  for (const claim of claims) outcomes.push(await outcomeOf(sql, claim, byId.get(claim.id)))
  return outcomes
}

async function outcomeOf(sql: Database | Tx, claim: Claim, row: ClaimRow | undefined): Promise<ClaimOutcome> {
  if (!row) throw new Error('a claim got no answer')
  // Lost a race for the row after the counter was raised: counted again and not lowered, as the job may have counted it
  // meanwhile. A crash in between only makes the payer wait for that job.
  if (row.flight && !row.claimed) await recountInFlight(sql, claim.network, claim.payer)
  return decideClaim({ written: row.claimed, undelivered: row.undelivered, isNew: row.fresh, fits: row.flight })
}

/**
 * Keeps a payment from being settled however often it is sent, for its request gets the answer of an earlier one. Claimed like
 * any other: should somebody else carry it to the chain, its money is its payer's credit.
 */
export async function leaveUnsettled(
  sql: Database | Tx,
  claim: Claim,
  { owner, nowMs }: { owner: bigint; nowMs: number },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `with taken as (
       insert into claim (payer, network, payment_key, payment_id) values ($5, claim_network($3, $7), $7, $1) on conflict do nothing returning 1)
     insert into payment (id, state, reason, network, asset, payer, scheme, payment_key, signed_digest, pay_to, payee, quoted_micro,
       amount_micro, valid_before, route_id, resource, fingerprint, ref, aff, revocable, adds_credit, owner, lease_until, claimed_at,
       ended_at, head_block)
     select $1, '${moves.answerBefore.to}', '${answeredBefore}', $3, $4, $5, $6, $7, $8, $9, $10, $11::bigint, $11::bigint, $12, $13, $14,
       $15, $16, $17, $18, $19, $20, $2, $2, $2, $21 from taken`,
    [
      claim.id,
      new Date(nowMs),
      claim.network,
      claim.asset,
      claim.payer,
      claim.scheme,
      fromHex(claim.paymentKey),
      claim.signedDigest,
      claim.payTo,
      claim.payee,
      claim.quotedMicro,
      claim.validBefore,
      claim.routeId,
      claim.resource,
      claim.fingerprint,
      claim.ref,
      claim.aff,
      claim.revocable,
      claim.addsCredit,
      owner,
      claim.headBlock,
    ],
  )
  if (rowCount > 0) return true
  const { rows } = await sql.query<{ state: PaymentState; final: boolean }>(
    `with claimed as (
       select payment_id as id from claim where payer = $1 and network = claim_network($2, $3) and payment_key = $3),
     moved as (
       update payment set state = '${moves.answerBefore.to}', reason = '${answeredBefore}'
       where id = (select id from claimed) and state in ${sqlList(moves.answerBefore.from)} and not final returning state, final)
     select state, final from moved union all
     select state, final from payment where id = (select id from claimed) and not exists (select from moved)`,
    [claim.payer, claim.network, fromHex(claim.paymentKey)],
  )
  return rows[0] !== undefined && isLeftUnsettled(rows[0])
}

class OverLimit extends Error {}

/** A released payment may be claimed again by the same request, with the very payment that was claimed before. */
export async function reclaimReleased(
  database: Database,
  claim: Claim,
  worker: { owner: bigint; nowMs: number; leaseMs: number },
): Promise<{ status: 'claimed'; paymentId: string } | { status: 'conflict' } | { status: 'over_limit' }> {
  try {
    return await database.transaction(async (tx) => {
      const { rows } = await tx.query<{ id: string }>(
        `update payment set state = '${moves.reclaim.to}', owner = $1, claimed_at = $2, lease_until = lease_now() + $3::integer * interval '1 millisecond',
           head_block = $4, reason = null, ended_at = null, client_gone = false, identifier_hash = $5,
           amount_micro = quoted_micro
         where id = (select c.payment_id from claim c where c.network = claim_network($6, $9) and c.payer = $8 and c.payment_key = $9)
           and network = $6
           and scheme = $7 and fingerprint = $10 and signed_digest = $11
           and state in ${sqlList(moves.reclaim.from)} and not final returning id`,
        [
          worker.owner,
          new Date(worker.nowMs),
          worker.leaseMs,
          claim.headBlock,
          claim.identifierHash,
          claim.network,
          claim.scheme,
          claim.payer,
          fromHex(claim.paymentKey),
          claim.fingerprint,
          claim.signedDigest,
        ],
      )
      const paymentId = rows[0]?.id
      if (!paymentId) return { status: 'conflict' }
      await tx.query(
        `update claim set identifier_hash = $4 where payer = $1 and network = claim_network($2, $3) and payment_key = $3`,
        [claim.payer, claim.network, fromHex(claim.paymentKey), claim.identifierHash],
      )
      const raised = await tx.query(
        `insert into payer_in_flight as f (network, payer, in_flight, in_flight_micro)
         select $1, $2, 1, $3::bigint where $3::bigint <= $4::bigint
         on conflict (payer, network) do update set in_flight = f.in_flight + 1, in_flight_micro = f.in_flight_micro + $3
           where f.in_flight < ${inFlightPerPayerMax} and f.in_flight_micro + $3 <= $4 returning 1`,
        [claim.network, claim.payer, claim.amountMicro, claim.balanceMicro],
      )
      if (raised.rowCount === 0) throw new OverLimit()
      return { status: 'claimed', paymentId }
    })
  } catch (error) {
    if (error instanceof OverLimit) return { status: 'over_limit' }
    // Another live payment took the identifier meanwhile.
    if (sqlStateOf(error) === '23505') return { status: 'conflict' }
    throw error
  }
}

/** Counts a payer's in-flight count again from the rows of truth. The row is locked first, so that no claim or ending falls in between. */
export async function recountInFlight(sql: Database | Tx, network: string, payer: Address): Promise<boolean> {
  const recount = async (tx: Tx) => {
    await tx.query(`select 1 from payer_in_flight where network = $1 and payer = $2 for update`, [network, payer])
    const { rowCount } = await tx.query(
      `update payer_in_flight f set in_flight = t.n, in_flight_micro = t.micro
       from (select count(*)::int as n, coalesce(sum(quoted_micro), 0)::bigint as micro from payment
             where network = $1 and payer = $2 and open_to_payer and not final and phase = 'open') t
       where f.network = $1 and f.payer = $2 and (f.in_flight <> t.n or f.in_flight_micro <> t.micro)`,
      [network, payer],
    )
    return rowCount > 0
  }
  return sql.transaction === true ? recount(sql) : sql.transaction(recount)
}
