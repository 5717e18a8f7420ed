import type { OptionQuote } from '@assay/sdk'
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { asProblem, type ProblemError } from '../../node/problem.ts'
import { useEvery } from '../../node/use-every.ts'
import { centsOfMicro } from '../../ui/format.ts'
import { Problem } from '../../ui/parts.tsx'
import { BuyButton } from '../../wallet/buy-button.tsx'
import type { Bought } from '../../wallet/order.ts'
import type { Series } from './chain.ts'

type Props = {
  series: Series
  what: string
  premiumMicro: string | null
  /** The premium that is locked; undefined again when its time is over. */
  onLocked: (premiumMicro: string | undefined) => void
  onBought: (bought: Bought) => void
}

/** A price is locked first, and what is then signed names that quote: never another amount than the one shown. */
export function QuotedBuy({ series, what, premiumMicro, onLocked, onBought }: Props) {
  const index = useNode()
  const [quote, setQuote] = useState<OptionQuote>()
  const [, look] = useState(0)
  const [problem, setProblem] = useState<ProblemError>()
  useEvery(1_000, () => look(Date.now()))
  const left = quote === undefined ? 0 : Math.floor((Date.parse(quote.expires_at) - Date.now()) / 1000)
  const locked = left > 0 ? quote?.premium_micro : undefined
  useEffect(() => onLocked(locked), [locked, onLocked])
  const lock = async () => {
    setProblem(undefined)
    try {
      const body = { symbol: series.symbol, quantity: 1 }
      setQuote((await ask<OptionQuote>(`${index.api_url}/v1/options/quote`, { body })).body)
    } catch (error) {
      setQuote(undefined)
      setProblem(asProblem(error))
    }
  }
  if (quote !== undefined && left > 0)
    return (
      <>
        <BuyButton
          order={{
            what,
            method: 'POST',
            url: `${index.api_url}/v1/options/buy`,
            body: { symbol: series.symbol, quantity: 1, quote_id: quote.quote_id },
          }}
          label={`Buy one for ${centsOfMicro(quote.premium_micro)}`}
          onBought={(bought) => {
            setQuote(undefined)
            onBought(bought)
          }}
        />
        <span class="small soft" role="timer">
          price locked for {left} s
        </span>
      </>
    )
  return (
    <>
      <button type="button" class="button main" disabled={premiumMicro === null} onClick={lock}>
        {premiumMicro === null ? 'None offered' : `Lock a price, ${centsOfMicro(premiumMicro)} now`}
      </button>
      <Problem problem={problem} />
    </>
  )
}
