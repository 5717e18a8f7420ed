import type { AnswerOf, SubscriptionPurchase } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { useStore } from '../../app/store.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { useNotSold } from '../../node/use-not-sold.ts'
import { capital, timeText, usd } from '../../ui/format.ts'
import { Await, Badge, CopyButton, NotSold } from '../../ui/parts.tsx'
import { BuyButton } from '../../wallet/buy-button.tsx'
import { Hallmarks } from '../../wallet/hallmarks.tsx'
import type { Bought } from '../../wallet/order.ts'
import { keepToken } from '../../wallet/tokens.ts'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'

type Plan = { tier: 'standard' | 'vip'; price_usd: string; days: number; base: string; polygon: string }
type PlansAnswer = { data: Plan[]; fair_use: { pulls_per_minute: number; pulls_per_day: number } }

const opens = {
  standard: 'Live pulls of every feed.',
  vip: 'Live and VIP pulls: factors, history and what was known at any past time.',
}
const tierName = (tier: string) => (tier === 'vip' ? 'VIP' : tier)

export function Plans() {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [bought, setBought] = useState<Bought>()
  const [plans] = useAnswer(offers(index, '/v1/subscriptions/plans') ? 'plans' : null, (signal) =>
    ask<PlansAnswer>(`${index.base_url}/v1/subscriptions/plans`, { signal }),
  )
  const held = useSubscription(bought)
  const notSold = useNotSold()
  const take = (value: Bought) => {
    const { token } = value.body as SubscriptionPurchase
    if (token !== null && wallet !== undefined) keepToken(wallet.address, 'matrix', token)
    setBought(value)
  }
  return (
    <section class="sheet" aria-labelledby="plans">
      <h2 id="plans">Subscriptions</h2>
      {bought === undefined ? null : <Subscribed bought={bought} />}
      <Await of={plans} what="Reading the plans">
        {({ body }) => (
          <>
            <div class="columns">
              {body.data.map((plan) => (
                <div key={plan.tier} class="stack tight">
                  <h3>{capital(tierName(plan.tier))}</h3>
                  <p class="price">
                    {usd(plan.price_usd)}
                    <small>for {plan.days} days</small>
                  </p>
                  <p class="soft">{opens[plan.tier]}</p>
                  <div class="row">
                    {(['base', 'polygon'] as const).map((chain) => (
                      <BuyButton
                        key={chain}
                        small
                        quiet={chain === 'polygon'}
                        order={{
                          what: `${capital(tierName(plan.tier))} subscription, ${plan.days} days`,
                          url: `${index.base_url}${plan[chain]}`,
                        }}
                        label={`${planLabel(plan, held, body.data, Date.now())} on ${chain === 'base' ? 'Base' : 'Polygon'}`}
                        disabled={notSold(`subscriptions.${plan.tier}.${chain}`) !== undefined}
                        onBought={take}
                      />
                    ))}
                  </div>
                  <NotSold why={notSold(`subscriptions.${plan.tier}.base`)} />
                </div>
              ))}
            </div>
            <p class="small soft">
              One subscription per wallet. Fair use: {body.fair_use.pulls_per_minute} pulls a minute,{' '}
              {body.fair_use.pulls_per_day.toLocaleString('en-US')} a day.
            </p>
          </>
        )}
      </Await>
    </section>
  )
}

type Held = { tier: string; until_at: string }
type Terms = Pick<Plan, 'tier' | 'days' | 'price_usd'>

/** A subscriber buys more time, and sees until when: time of the other tier counts by its price, as the node counts it. */
export function planLabel(plan: Terms, held: Held | undefined, plans: readonly Terms[], nowMs: number): string {
  if (held === undefined) return `Subscribe ${tierName(plan.tier)}`
  const untilMs = Date.parse(held.until_at)
  const boughtMs = plan.days * 86_400_000
  const priceOf = (tier: string) => Number(plans.find((known) => known.tier === tier)?.price_usd)
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const raises = plan.tier === 'vip' && held.tier !== 'vip'
  if (raises) {
    const leftMs = ((untilMs - nowMs) * priceOf(held.tier)) / priceOf(plan.tier)
    return `Change to VIP until ${dayOf(nowMs + boughtMs + leftMs)}`
  }
  const worth = priceOf(plan.tier) / priceOf(held.tier)
  return `Extend ${tierName(held.tier)} until ${dayOf(untilMs + boughtMs * worth)}`
}

/** Known where it was bought here, or where a demo wallet signs in by itself; nobody else is asked to sign for a label. */
function useSubscription(bought: Bought | undefined): Held | undefined {
  const index = useNode()
  const wallet = useStore(walletStore)
  const asks = bought === undefined && wallet?.kind === 'demo' && offers(index, '/v1/subscriptions/list')
  const [held] = useAnswer(asks ? wallet.address : null, async () => {
    const { askSignedIn } = await import('../../wallet/sign-and-pay.ts')
    if (wallet === undefined) return undefined
    const { data } = await askSignedIn<AnswerOf<'subscriptions.list'>>(
      index,
      wallet,
      `${index.base_url}/v1/subscriptions/list`,
    )
    return data.find(({ product, active }) => product !== 'stream' && active)?.subscription
  })
  if (bought !== undefined) return (bought.body as SubscriptionPurchase).subscription
  return held.state === 'done' ? held.value : undefined
}

function Subscribed({ bought }: { bought: Bought }) {
  const { subscription, token } = bought.body as SubscriptionPurchase
  return (
    <div class="stack">
      <div class="notice good" role="status">
        <strong>
          {capital(tierName(subscription.tier))} until {timeText(subscription.until_at)}{' '}
          {subscription.provisional ? <Badge>provisional until the payment is final</Badge> : null}
        </strong>
        {token === null ? null : (
          <p class="row">
            Token <code>{token.slice(0, 12)}…</code> <CopyButton text={token} what="token" />
            <span class="small soft">This tab uses it from now on. Programs send it as Authorization: Bearer.</span>
          </p>
        )}
      </div>
      <Hallmarks bought={bought} fileName="evidence-subscription.json" />
    </div>
  )
}
