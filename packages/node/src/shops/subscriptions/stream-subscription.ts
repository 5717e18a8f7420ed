import { type Address, parseAddress } from '@assay/protocol/address'
import { decodeJson } from '@assay/protocol/json-object'
import { formatUsd } from '@assay/protocol/money'
import { receiptInHeaders } from '@assay/protocol/receipt-in-headers'
import type { Sale } from '@assay/till'
import { Problem } from '@assay/till/kernel/problem'
import { createTokenMaker, tokenHash } from '@assay/till/signing'
import type { Sql, Tx } from '@assay/till/store/database'
import type { ShopContext } from '../shop.ts'
import type { Pause } from './compute-term.ts'
import { grantPeriod, revokePeriod } from './grant-period.ts'
import { pausesOf } from './pause-store.ts'
import type { SubscriptionPolicy } from './policy.ts'
import { subscriptionProblems } from './problems.ts'
import { chainOf, type SubscriptionView, showSubscription } from './show-subscription.ts'
import { findByToken, findSubscription, type Subscription } from './store.ts'
import { type StoredToken, storedToken, tokenOf } from './stored-token.ts'

/** What is stored of a sold or opened stream: the token is named by its versions, and made again each time it is given. */
export type StoredStreamSubscription = {
  subscription: SubscriptionView
  token: StoredToken | null
}

/** A subscription to the stream that is open now, with the digest of the token that opens it. */
export type OpenedSubscription = {
  wallet: Address
  tokenSha256: string
  fromMs: number
  stored: StoredStreamSubscription
}

/** Selling and finding subscriptions to the intent stream, for the shop that streams. */
export type StreamSubscriptions = {
  priceMicro: bigint
  grant(tx: Tx, sale: Sale): Promise<StoredStreamSubscription>
  revoke(tx: Tx, paymentId: string, nowMs: number): Promise<void>
  /** Without the token: a caller that opens the stream with it has it already. */
  describe(sql: Sql, wallet: Address): Promise<StoredStreamSubscription | undefined>
  tokenOf(stored: StoredStreamSubscription): Promise<string | null>
  /** What the token in an Authorization header opens now. Throws a Problem where that is nothing. */
  requireByToken(authorization: string | undefined): Promise<OpenedSubscription>
  /** The same for a wallet, as long as its token is the one with this digest. */
  requireUnchanged(holder: { wallet: Address; tokenSha256: string }): Promise<OpenedSubscription>
  /** Times that were given back, so that what was published in them is not paid for. */
  pausesOf(wallet: Address): Promise<Pause[]>
  receiptInHeaders(paymentResponse: string): string | null
}

export function openStreamSubscriptions(
  context: Pick<ShopContext, 'database' | 'rng' | 'networks' | 'clock'>,
  policy: SubscriptionPolicy,
): StreamSubscriptions {
  const tokens = createTokenMaker(context.rng, 'asub')
  const priceMicro = policy.priceMicro.stream
  const opened = (found: Subscription): OpenedSubscription => {
    const ended = found.untilMs <= context.clock.nowMs() || found.pausedAtMs !== null
    if (found.product !== 'stream' || ended || found.tokenHash === null)
      throw new Problem(subscriptionProblems.subscription_required)
    return {
      wallet: found.wallet,
      tokenSha256: found.tokenHash.toString('hex'),
      fromMs: found.fromMs,
      stored: { subscription: showSubscription(policy, found), token: null },
    }
  }
  const noToken = () =>
    new Problem('proof_invalid', { detail: 'This token is not valid. It is unknown, expired or revoked.' })
  return {
    requireByToken: async (authorization) => {
      const token = /^Bearer (asub_\S+)$/i.exec(authorization ?? '')?.[1]
      if (token === undefined)
        throw new Problem('proof_required', { detail: 'Send the token of a subscription to the stream.' })
      const found = await findByToken(context.database, tokenHash(token))
      if (found === undefined || found === 'ended') throw noToken()
      return opened(found)
    },
    requireUnchanged: async ({ wallet, tokenSha256 }) => {
      const found = await findSubscription(context.database, wallet, 'stream')
      if (!found || found.tokenHash?.toString('hex') !== tokenSha256) throw noToken()
      return opened(found)
    },
    pausesOf: (wallet) => pausesOf(context.database, wallet, 'stream', context.clock.nowMs()),
    priceMicro,
    receiptInHeaders: (paymentResponse) => receiptInHeaders(decodeJson(paymentResponse)) ?? null,
    grant: async (tx, sale) => {
      const period = {
        paymentId: sale.paymentId,
        round: sale.round,
        wallet: sale.payer,
        product: 'stream' as const,
        tier: 'stream' as const,
        network: sale.network,
        boughtAtMs: sale.settledAtMs,
        standardMicro: priceMicro,
        vipMicro: priceMicro,
      }
      const subscription = await grantPeriod(tx, tokens, period, sale.settledAtMs)
      const paid = {
        chain: chainOf(context, sale.network),
        provisional: sale.provisional,
        price_usd: formatUsd(sale.amountMicro),
      }
      return {
        subscription: showSubscription(policy, subscription, paid),
        token: storedToken(subscription),
      }
    },
    revoke: (tx, paymentId, nowMs) => revokePeriod(tx, tokens, paymentId, nowMs),
    describe: async (sql, wallet) => {
      const found = await findSubscription(sql, wallet, 'stream')
      return found && { subscription: showSubscription(policy, found), token: null }
    },
    tokenOf: async ({ subscription, token }) => {
      const wallet = parseAddress(subscription.wallet)
      if (token === null || wallet === undefined) return null
      return tokenOf(context.database, tokens, wallet, token, 'stream')
    },
  }
}

/** Wallets whose subscription to the stream was not over at this moment. */
export async function streamSubscribers(sql: Sql, atMs: number): Promise<Address[]> {
  const { rows } = await sql.query<{ wallet: Address }>(
    `select wallet from subscription where product = 'stream' and until_at > $1 and paused_at is null`,
    [new Date(atMs)],
  )
  return rows.map(({ wallet }) => wallet)
}
