import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { drawCredit } from '@assay/till/internal'
import { Problem } from '@assay/till/kernel/problem'
import type { Tx } from '@assay/till/store/database'
import { saleHooks } from '../ports.ts'
import { countAgain, grantPeriod } from './grant-period.ts'
import { periodMs, type SubscriptionPolicy, soldBy } from './policy.ts'
import { subscriptionProblems } from './problems.ts'
import { type RenewDeps, screened } from './renew.ts'
import { findSubscription, lockWallet, type Subscription } from './store.ts'

/** What the rest of a standard subscription costs more as vip, rounded up to a micro. */
export function upgradePrice(policy: SubscriptionPolicy, known: Subscription, nowMs: number): Micro {
  const leftMs = BigInt(Math.max(0, known.untilMs - nowMs))
  const difference = policy.priceMicro.vip - policy.priceMicro.standard
  return (leftMs * difference + BigInt(periodMs) - 1n) / BigInt(periodMs)
}

/** Throws unless there is something to upgrade. */
export function requireUpgradable(known: Subscription | undefined, nowMs: number): Subscription {
  if (!known || known.untilMs <= nowMs || known.tier !== 'standard' || known.pausedAtMs !== null)
    throw new Problem(subscriptionProblems.subscription_state, {
      detail: 'Only a standard subscription that is running, and not paused, can be upgraded.',
    })
  return known
}

type Asked = { wallet: Address; networks: readonly string[]; priceMaxMicro: Micro }
type Upgraded = { subscription: Subscription; priceMicro: Micro }

/** Pays the difference from credit and changes the tier, in one transaction. The end stays where it is. */
export async function upgrade(deps: RenewDeps, asked: Asked): Promise<Upgraded> {
  const hit = await screened(deps, asked.wallet)
  if (hit) throw new Problem('payer_refused', { extra: { reason: hit.reason } })
  return deps.database.transaction((tx) => upgradeIn(deps, tx, asked))
}

async function upgradeIn(deps: RenewDeps, tx: Tx, asked: Asked): Promise<Upgraded> {
  const { wallet, networks, priceMaxMicro } = asked
  await lockWallet(tx, wallet)
  const nowMs = deps.clock.nowMs()
  // An outage that goes on has given back what is not written down yet.
  await countAgain(tx, wallet, 'feeds', nowMs)
  const known = requireUpgradable(await findSubscription(tx, wallet, 'feeds'), nowMs)
  if (deps.unavailable() !== undefined)
    throw new Problem('not_available', { detail: 'None of the feeds is for sale now.' })
  const priceMicro = upgradePrice(deps.policy, known, nowMs)
  if (priceMicro > priceMaxMicro)
    throw new Problem(subscriptionProblems.subscription_state, {
      detail: `It costs ${priceMicro} micro-USDC, more than max_price_micro.`,
      extra: { price_micro: priceMicro.toString() },
    })
  const id = deps.ids.next('call')
  const draw = {
    ...{ id, account: wallet, networks, amountMicro: priceMicro, route: soldBy('vip') },
    key: `upgrade ${known.fromMs} ${known.untilMs}`,
    hooks: deps.ports.find(saleHooks) ?? [],
  }
  const free = { status: 'taken', network: networks[0] ?? deps.base.caip2 } as const
  const drawn = priceMicro === 0n ? free : await drawCredit(tx, nowMs, draw)
  if (drawn.status === 'refused')
    throw new Problem('credit_unavailable', {
      detail:
        drawn.why === 'not_final'
          ? 'A payment that brought the credit is not final. Ask again once it is.'
          : 'The credit balance does not cover the upgrade.',
      extra: { price_micro: priceMicro.toString() },
    })
  const { standard, vip } = deps.policy.priceMicro
  const subscription = await grantPeriod(
    tx,
    deps.tokens,
    {
      paymentId: id,
      round: 0,
      wallet,
      tier: 'vip',
      network: drawn.network,
      boughtAtMs: nowMs,
      standardMicro: standard,
      vipMicro: vip,
      kind: 'upgrade',
      paidMs: known.untilMs - nowMs,
    },
    nowMs,
  )
  return { subscription, priceMicro }
}
