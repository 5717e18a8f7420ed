import { useState } from 'preact/hooks'
import { useNode } from '../../node/context.ts'
import { usd } from '../../ui/format.ts'
import { BuyButton } from '../../wallet/buy-button.tsx'
import type { Bought } from '../../wallet/order.ts'
import type { Series } from './chain.ts'

const premiumPattern = /^\d{1,3}(?:\.\d{1,6})?$/
const [premiumMin, premiumMax] = [50, 120]

export const isPremium = (text: string) =>
  premiumPattern.test(text) && Number(text) >= premiumMin && Number(text) <= premiumMax

const sides = {
  write: {
    summary: 'Write one and earn the premium',
    text: 'You pay in the most it can pay out, less the premium you ask for. Unsold, you can withdraw it; sold, the collateral is locked until the series has ended and what is left comes back.',
    field: 'Premium',
    member: 'premium_usd',
    verb: 'Offer',
  },
  order: {
    summary: 'Order one at your limit',
    text: 'You pay in your limit. The order waits in the book until somebody sells at it or below; what it saves comes back, and so does all of it when you withdraw or trading ends.',
    field: 'Limit',
    member: 'limit_usd',
    verb: 'Order',
  },
} as const

type LimitFormProps = { side: keyof typeof sides; series: Series; onBought: (bought: Bought) => void }

/** A limit price, on either side of the book: paid in full before it is shown to anybody. */
export function LimitForm({ side, series, onBought }: LimitFormProps) {
  const index = useNode()
  const [premium, setPremium] = useState('80')
  const [immediate, setImmediate] = useState(false)
  const fits = isPremium(premium)
  const { summary, text, field, member, verb } = sides[side]
  return (
    <details>
      <summary>{summary}</summary>
      <div class="stack">
        <p class="small">{text}</p>
        <label class="field">
          <span>
            {field}, {usd(String(premiumMin))} to {usd(String(premiumMax))}
          </span>
          <input
            inputMode="decimal"
            value={premium}
            onInput={(event) => setPremium(event.currentTarget.value.trim())}
          />
        </label>
        <label class="row">
          <input type="checkbox" checked={immediate} onChange={(event) => setImmediate(event.currentTarget.checked)} />
          <span class="small">Immediate: what is not traded on entering the book comes back</span>
        </label>
        <div class="row">
          <BuyButton
            quiet
            order={{
              what: `${verb} a ${series.kind} at ${series.strike}`,
              method: 'POST',
              url: `${index.api_url}/v1/options/${side}`,
              body: { symbol: series.symbol, quantity: 1, [member]: premium, immediate },
            }}
            label={fits ? `${verb} one for ${usd(premium)}` : `${verb} one`}
            disabled={!fits}
            onBought={onBought}
          />
        </div>
      </div>
    </details>
  )
}
