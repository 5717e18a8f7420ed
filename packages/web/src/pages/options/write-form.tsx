import { useState } from 'preact/hooks'
import { useNode } from '../../node/context.ts'
import { usd } from '../../ui/format.ts'
import { BuyButton } from '../../wallet/buy-button.tsx'
import type { Bought } from '../../wallet/order.ts'
import type { Series } from './chain.ts'

const premiumPattern = /^\d{1,3}(?:\.\d{1,6})?$/
const [premiumMin, premiumMax] = [50, 120]

/** The other side of the trade: anyone who writes posts all that the contract could ever pay, less the premium asked. */
export function WriteForm({ series, onBought }: { series: Series; onBought: (bought: Bought) => void }) {
  const index = useNode()
  const [premium, setPremium] = useState('80')
  const fits = premiumPattern.test(premium) && Number(premium) >= premiumMin && Number(premium) <= premiumMax
  return (
    <details>
      <summary>Write one and earn the premium</summary>
      <div class="stack">
        <p class="small">
          You pay in the most it can pay out, less the premium you ask for. Unsold, you can withdraw it; sold, the
          collateral is locked until the series has ended and what is left comes back.
        </p>
        <label class="field">
          <span>
            Premium, {usd(String(premiumMin))} to {usd(String(premiumMax))}
          </span>
          <input
            inputMode="decimal"
            value={premium}
            onInput={(event) => setPremium(event.currentTarget.value.trim())}
          />
        </label>
        <div class="row">
          <BuyButton
            quiet
            order={{
              what: `Write a ${series.kind} at ${series.strike}`,
              method: 'POST',
              url: `${index.api_url}/v1/options/write`,
              body: { symbol: series.symbol, quantity: 1, premium_usd: premium },
            }}
            label={fits ? `Offer one for ${usd(premium)}` : 'Offer one'}
            disabled={!fits}
            onBought={onBought}
          />
        </div>
      </div>
    </details>
  )
}
