import { useEffect, useRef } from 'preact/hooks'
import { Hex } from '../../ui/parts.tsx'
import { Hallmarks } from '../../wallet/hallmarks.tsx'
import type { Bought } from '../../wallet/order.ts'

type Answer = { position_id?: string; offer_id?: string; order_id?: string; premium_micro?: string }

/** What was paid for last; `paidMicro` is the premium of a contract that is owned now. */
export type Placed = {
  id: string
  verb: string
  what: string
  symbol: string
  paidMicro: string | undefined
  bought: Bought
}

export function placedOf(bought: Bought, what: string, symbol: string): Placed {
  const { position_id, offer_id, order_id, premium_micro } = bought.body as Answer
  const id = order_id ?? offer_id ?? position_id ?? ''
  const verb = order_id !== undefined ? 'Ordered' : offer_id !== undefined ? 'Offered' : 'Yours'
  // The premium of an own offer is what others pay.
  return { id, verb, what, symbol, paidMicro: position_id === undefined ? undefined : premium_micro, bought }
}

/** Comes into view when it appears: the button that was pressed is far above it. */
export function PlacedPanel({ placed }: { placed: Placed }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <section class="sheet placed" aria-labelledby="placed">
      <header>
        <h2 id="placed" ref={heading} tabIndex={-1}>
          {placed.verb}: {placed.what}
        </h2>
        <Hex value={placed.id} what="id" />
      </header>
      <Hallmarks bought={placed.bought} fileName={`evidence-${placed.symbol}.json`} />
    </section>
  )
}
