import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { confirmMandate } from '@assay/till/credit/mandates/store'
import { drawCredit, mandateFor, payeeAddress } from '@assay/till/internal'
import { Problem } from '@assay/till/kernel/problem'
import type { TokenMaker } from '@assay/till/signing'
import type { Tx } from '@assay/till/store/database'
import type { Unavailable } from '../../http/index.ts'
import { saleHooks } from '../ports.ts'
import type { ShopContext } from '../shop.ts'
import { countAgain, grantPeriod } from './grant-period.ts'
import { pauseAfterRestore } from './pause-after-restore.ts'
import { type AnyTier, type Product, type SubscriptionPolicy, soldBy } from './policy.ts'
import { subscriptionProblems } from './problems.ts'
import { confirmRenewal, dueRenewals, findRenewal, putOff, type Renewal, saveRenewal } from './renewal-store.ts'
import { activePurchases, findSubscription, lockWallet, type Subscription } from './store.ts'

export type RenewDeps = Pick<
  ShopContext,
  'database' | 'clock' | 'ids' | 'log' | 'payees' | 'base' | 'networks' | 'screening' | 'ports'
> & {
  policy: SubscriptionPolicy
  tokens: TokenMaker
  /** Why the feeds are not for sale, and why the stream is not. */
  unavailable(): Unavailable | undefined
  streamUnavailable(): Unavailable | undefined
}

const hourMs = 3_600_000
/** How long before its end a subscription is renewed; a failed attempt is repeated every hour. */
const leadMs = 24 * hourMs
/** How long after the end renewal is still tried. */
const graceMs = 72 * hourMs
/** What passes by itself, or by a top-up; anything else ends the renewal. */
const passing = new Set([
  ...['not_enough', 'not_final', 'mandate_day', 'mandate_unconfirmed', 'mandate_paused'],
  ...['not_available', 'payer_refused', 'restored'],
])

/** Who draws for a renewal: a mandate names this address as its delegate. */
export const renewalDelegate = ({ payees, base }: Pick<ShopContext, 'payees' | 'base'>): Address =>
  payeeAddress(payees, 'pay_to', base.caip2)

/** A mandate that names an earlier PAY_TO of this node was given to this node. */
async function renewalDelegates(deps: RenewDeps, tx: Tx): Promise<Address[]> {
  const earlier = await tx.query<{ address: Address }>(
    `select address from own_address where network = $1 and payee = 'pay_to'`,
    [deps.base.caip2],
  )
  return [renewalDelegate(deps), ...earlier.rows.map(({ address }) => address)]
}

/** Turns renewals on, from the wallet's own signed request. Nothing is drawn before the last day of what is paid for. */
export async function turnOn(
  deps: RenewDeps,
  tx: Tx,
  asked: { wallet: Address; product: Product; mandateId: string; priceMaxMicro: Micro | undefined },
): Promise<Renewal> {
  const { wallet, product, mandateId } = asked
  await lockWallet(tx, wallet)
  const nowMs = deps.clock.nowMs()
  const known = await findSubscription(tx, wallet, product)
  if (!known || known.untilMs <= nowMs)
    throw new Problem(subscriptionProblems.subscription_state, { detail: 'Only what is running can be renewed.' })
  const priceMicro = deps.policy.priceMicro[known.tier]
  const priceMaxMicro = asked.priceMaxMicro ?? priceMicro
  if (priceMaxMicro < priceMicro)
    throw new Problem(subscriptionProblems.subscription_state, { detail: 'max_price_micro is below the price.' })
  const terms = await termsOf(deps, tx, { wallet, tier: known.tier, mandateId })
  if (typeof terms === 'string') throw new Problem(terms)
  if (terms.validUntilMs <= nowMs) throw new Problem('mandate_expired')
  const revoked = await tx.query('select from mandate where id = $1 and revoked_at is not null', [mandateId])
  if (revoked.rowCount > 0) throw new Problem('mandate_revoked')
  if (terms.capCallMicro < priceMicro)
    throw new Problem('mandate_over_cap', { detail: 'The mandate allows less for a call than one period costs.' })
  const nextAtMs = Math.max(nowMs, known.untilMs - leadMs)
  const renewal: Renewal = {
    wallet,
    product,
    tier: known.tier,
    mandateId,
    priceMaxMicro,
    state: 'on',
    problem: null,
    nextAtMs,
  }
  await saveRenewal(tx, renewal, nowMs)
  await confirmRenewal(tx, renewal)
  await confirmMandate(tx, mandateId)
  return renewal
}

/** What is paid for goes on to its end, and ends there. Without a renewal there is nothing to turn off. */
export async function turnOff(deps: RenewDeps, tx: Tx, wallet: Address, product: Product): Promise<void> {
  await lockWallet(tx, wallet)
  const known = await findRenewal(tx, wallet, product)
  if (known?.state === 'on') await saveRenewal(tx, { ...known, state: 'off', problem: null }, deps.clock.nowMs())
}

/** Renews everything that is due; one that cannot be renewed does not keep the others waiting. */
export async function renewDue(deps: RenewDeps): Promise<number> {
  const { database, clock, log } = deps
  const waiting = await pauseAfterRestore(deps)
  if (waiting === 'all') return 0
  let renewed = 0
  for (const { wallet, product, confirmed } of await dueRenewals(database, clock.nowMs()))
    try {
      const isUnsure = waiting === 'unconfirmed' && !confirmed
      const why = (await screened(deps, wallet)) ? 'payer_refused' : isUnsure ? 'restored' : undefined
      if (await database.transaction((tx) => renewOne(deps, tx, wallet, product, why))) renewed += 1
    } catch (error) {
      log.error({ wallet, product, error: String(error) }, 'a subscription was not renewed')
      // Otherwise it is the first of the next round again, before those that can be renewed.
      await putOff(database, { wallet, product, nowMs: clock.nowMs(), nextAtMs: clock.nowMs() + hourMs })
    }
  return renewed
}

/** Asked before a transaction begins: it may read the database by another connection. */
export const screened = ({ screening }: Pick<RenewDeps, 'screening'>, wallet: Address) => screening.find(wallet)

/** Draw, posting and period in one transaction, under the lock that cancelling, pausing and buying take too. */
async function renewOne(deps: RenewDeps, tx: Tx, wallet: Address, product: Product, refused?: string) {
  await lockWallet(tx, wallet)
  const nowMs = deps.clock.nowMs()
  const renewal = await findRenewal(tx, wallet, product)
  if (renewal?.state !== 'on' || renewal.nextAtMs > nowMs) return false
  // An outage that goes on has given back what is not written down yet.
  await countAgain(tx, wallet, product, nowMs)
  const known = await findSubscription(tx, wallet, product)
  const save = async (change: Partial<Renewal>) => {
    await saveRenewal(tx, { ...renewal, ...change }, nowMs)
    return false
  }
  // What was refunded leaves its row behind, with an end that is near.
  const isActive = (await activePurchases(tx, wallet, product)).length > 0
  if (!known || !isActive) return save({ state: 'ended', problem: 'no_subscription' })
  if (known.pausedAtMs !== null) return save({ nextAtMs: nowMs + hourMs })
  if (known.untilMs - leadMs > nowMs) return save({ nextAtMs: known.untilMs - leadMs, problem: null })
  const why = whyNot(deps, renewal, known, nowMs) ?? refused ?? (await payFor(deps, tx, renewal, known, nowMs))
  if (why !== undefined && passing.has(why)) return save({ nextAtMs: nowMs + hourMs, problem: why })
  if (why !== undefined) {
    deps.log.warn({ wallet, product, why }, 'a renewal ended')
    return save({ state: 'ended', problem: why })
  }
  const extended = await findSubscription(tx, wallet, product)
  await save({ nextAtMs: (extended?.untilMs ?? nowMs) - leadMs, problem: null })
  return true
}

function whyNot(deps: RenewDeps, renewal: Renewal, known: Subscription, nowMs: number): string | undefined {
  if (nowMs > known.untilMs + graceMs) return 'lapsed'
  if (known.tier !== renewal.tier) return 'tier_changed'
  if (deps.policy.priceMicro[renewal.tier] > renewal.priceMaxMicro) return 'price_changed'
  // What is not for sale is not renewed either.
  const down = renewal.product === 'feeds' ? deps.unavailable() : deps.streamUnavailable()
  return down === undefined ? undefined : 'not_available'
}

/** Undefined when it was paid and the period added. */
async function payFor(
  deps: RenewDeps,
  tx: Tx,
  { wallet, product, tier, mandateId }: Renewal,
  known: Subscription,
  nowMs: number,
): Promise<string | undefined> {
  const terms = await termsOf(deps, tx, { wallet, tier, mandateId })
  if (typeof terms === 'string') return terms
  const { priceMicro } = deps.policy
  const id = deps.ids.next('call')
  const drawn = await drawCredit(tx, nowMs, {
    id,
    account: wallet,
    // The credit of a contract wallet on another chain may be somebody else's.
    networks: terms.ownerKind === 'contract' ? [`eip155:${terms.chainId}`] : deps.networks.map(({ caip2 }) => caip2),
    amountMicro: priceMicro[tier],
    route: soldBy(tier),
    // One draw for each end of a period, whatever runs twice.
    key: `renewal ${product} ${known.untilMs}`,
    mandateId,
    hooks: deps.ports.find(saleHooks) ?? [],
  })
  // It was drawn for this end before, and refunded since.
  if (drawn.status === 'refused') return drawn.why === 'named' ? 'refunded' : drawn.why
  const prices =
    tier === 'stream'
      ? { standardMicro: priceMicro.stream, vipMicro: priceMicro.stream }
      : { standardMicro: priceMicro.standard, vipMicro: priceMicro.vip }
  await grantPeriod(
    tx,
    deps.tokens,
    {
      paymentId: id,
      round: 0,
      wallet,
      product,
      tier,
      network: drawn.network,
      boughtAtMs: nowMs,
      ...prices,
      kind: 'renewal',
    },
    nowMs,
  )
  return undefined
}

async function termsOf(deps: RenewDeps, tx: Tx, asked: { wallet: Address; tier: AnyTier; mandateId: string }) {
  const { id: routeId, path } = soldBy(asked.tier)
  const delegates = await renewalDelegates(deps, tx)
  return mandateFor(tx, asked.mandateId, { owner: asked.wallet, delegates, routeId, path })
}
