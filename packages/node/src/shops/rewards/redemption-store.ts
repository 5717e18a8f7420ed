import type { Address } from '@assay/protocol/address'
import { type DerivedToken, tokenInForce } from '@assay/till/signing'
import type { Sql, Tx } from '@assay/till/store/database'
import { rewardAccounts } from './accounts.ts'
import type { Redeemed, RedemptionRequest } from './redeem-points.ts'

type Made = Redeemed & { request: RedemptionRequest; tokenHash: Buffer }

export async function readRedemptions(
  sql: Sql,
  nonces: readonly string[],
): Promise<Map<string, { requestHash: Buffer; redeemed: Redeemed }>> {
  const { rows } = await sql.query<{
    nonce: string
    request_hash: Buffer
    points: bigint
    pass_id: string
    balance_after: bigint
    reward: string
    calls: number
    max_price_micro: bigint
    token_secret: number
    made_at: Date
    expires_at: Date
  }>({
    name: 'rewards_read_redemptions',
    text: `select r.nonce, r.request_hash, r.points, r.pass_id, r.balance_after, p.reward, p.calls, p.max_price_micro, p.token_secret, p.made_at, p.expires_at
      from redemption r join pass p on p.id = r.pass_id where r.nonce = any($1::text[])`,
    values: [nonces],
  })
  return new Map(
    rows.map((row) => [
      row.nonce,
      {
        requestHash: row.request_hash,
        redeemed: {
          nonce: row.nonce,
          passId: row.pass_id,
          tokenSecret: row.token_secret,
          reward: row.reward,
          calls: row.calls,
          maxPriceMicro: row.max_price_micro,
          points: row.points,
          balance: row.balance_after,
          madeAtMs: row.made_at.getTime(),
          expiresAtMs: row.expires_at.getTime(),
        },
      },
    ]),
  )
}

export async function pointBalances(sql: Sql, wallets: readonly Address[]): Promise<Map<Address, bigint>> {
  const { rows } = await sql.query<{ name: string; owed_micro: bigint }>({
    name: 'rewards_point_balances',
    text: `select a.name, b.owed_micro from ledger_account a join ledger_balance b on b.account_id = a.id
      where a.name = any($1::text[])`,
    values: [wallets.map((wallet) => rewardAccounts.points(wallet).name)],
  })
  return new Map(rows.map((row) => [row.name.slice('points:'.length) as Address, row.owed_micro]))
}

/** A sale that is not refunded; top-ups and what was given back prove nothing about who is behind a wallet. */
export async function hasBoughtOn(sql: Sql, wallet: Address, network: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    name: 'rewards_has_bought_on',
    text: `select from reward_sale where payer = $1 and network = $2 and reversed_micro < take_micro limit 1`,
    values: [wallet, network],
  })
  return rowCount > 0
}

/** Points of large payments that a reorg could still take away. */
export async function pendingPoints(sql: Sql, wallets: readonly Address[]): Promise<Map<Address, bigint>> {
  const { rows } = await sql.query<{ payer: Address; points: bigint }>({
    name: 'rewards_pending_points',
    text: `select s.payer, sum(s.points + s.referred_points)::bigint as points from reward_sale s
      join payment p on p.id = s.payment_id and p.reorgs = s.round
      where s.payer = any($1::text[]) and s.needs_finality and s.reversed_micro = 0 and not p.final group by s.payer`,
    values: [wallets],
  })
  return new Map(rows.map((row) => [row.payer, row.points]))
}

/** How many were new. */
export async function insertRedemptions(tx: Tx, made: readonly Made[]): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'rewards_insert_redemptions',
    text: `insert into redemption (nonce, request_hash, wallet, points, reward, pass_id, balance_after, redeemed_at)
      select * from unnest($1::text[], $2::bytea[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::timestamptz[])
      on conflict (nonce) do nothing`,
    values: [
      made.map(({ nonce }) => nonce),
      made.map(({ request }) => request.requestHash),
      made.map(({ request }) => request.wallet),
      made.map(({ points }) => points),
      made.map(({ reward }) => reward),
      made.map(({ passId }) => passId),
      made.map(({ balance }) => balance),
      made.map(({ madeAtMs }) => new Date(madeAtMs)),
    ],
  })
  return rowCount
}

export async function insertPasses(tx: Tx, made: readonly Made[]): Promise<void> {
  await tx.query({
    name: 'rewards_insert_passes',
    text: `insert into pass (id, wallet, reward, calls, max_price_micro, token_secret, token_hash, made_at, expires_at)
      select * from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::bigint[], $6::integer[], $7::bytea[], $8::timestamptz[], $9::timestamptz[])`,
    values: [
      made.map(({ passId }) => passId),
      made.map(({ request }) => request.wallet),
      made.map(({ reward }) => reward),
      made.map(({ calls }) => calls),
      made.map(({ maxPriceMicro }) => maxPriceMicro),
      made.map(({ tokenSecret }) => tokenSecret),
      made.map(({ tokenHash }) => tokenHash),
      made.map(({ madeAtMs }) => new Date(madeAtMs)),
      made.map(({ expiresAtMs }) => new Date(expiresAtMs)),
    ],
  })
}

/** A new token for a pass whose token was revoked; false when it has another one in force. */
export async function reissuePass(sql: Sql, passId: string, token: DerivedToken): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update pass set token_secret = $2, token_hash = $3 where id = $1
       and (token_hash = $3 or not ${tokenInForce('token_secret')})`,
    [passId, token.secretVersion, token.hash],
  )
  return rowCount > 0
}
