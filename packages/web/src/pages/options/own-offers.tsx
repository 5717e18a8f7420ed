import type { OptionHoldings, OptionWithdrawal } from '@assay/sdk'
import { announce } from '../../app/announce.ts'
import { useNode } from '../../node/context.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { centsOfMicro } from '../../ui/format.ts'
import { Badge, Problem, type Tone } from '../../ui/parts.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'

type Own = { id: string; symbol: string; state: string; open: number; text: string }

const tones: Record<string, Tone> = { pending: 'calm', live: 'good', closed: 'plain', revoked: 'bad' }

const ownOf = ({ positions, offers, orders }: OptionHoldings): Own[] => [
  ...positions.flatMap(({ position_id, symbol, sell }) =>
    sell === null
      ? []
      : [
          {
            id: position_id,
            symbol,
            state: 'live',
            open: sell.quantity,
            text: `order to sell ${sell.quantity} at ${centsOfMicro(sell.limit_micro)}`,
          },
        ],
  ),
  ...orders.map((order) => ({
    id: order.order_id,
    symbol: order.symbol,
    state: order.state,
    open: order.open_quantity,
    text: `order for ${order.quantity} at ${centsOfMicro(order.limit_micro)}, ${order.open_quantity} open`,
  })),
  ...offers.map((offer) => ({
    id: offer.offer_id,
    symbol: offer.symbol,
    state: offer.state,
    open: offer.free_quantity,
    text: `offer of ${offer.quantity} at ${centsOfMicro(offer.premium_micro)}, ${offer.sold_quantity} sold, ${centsOfMicro(offer.collateral_micro)} collateral`,
  })),
]

type OwnOffersProps = { holdings: OptionHoldings; wallet: Wallet; again: () => void }

/** What this wallet has in the book. What was not traded comes back when its owner signs for it. */
export function OwnOffers({ holdings, wallet, again }: OwnOffersProps) {
  const index = useNode()
  const { busy, problem, attempt } = useAttempt()
  const own = ownOf(holdings)
  if (own.length === 0) return null
  const withdraw = async ({ id }: Own) => {
    await attempt(async () => {
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      const url = `${index.api_url}/v1/options/withdraw`
      const taken = await askSigned<OptionWithdrawal>(index, wallet, url, { method: 'POST', body: { offer_id: id } })
      announce(
        taken.returned_micro === '0' ? 'Withdrawn' : `Withdrawn; ${centsOfMicro(taken.returned_micro)} come back`,
      )
      again()
    })
  }
  return (
    <>
      <h3>Your orders and offers</h3>
      <ul class="switches">
        {own.map((one) => (
          <li key={one.id}>
            <div>
              <span class="mono">{one.symbol}</span> <Badge tone={tones[one.state] ?? 'plain'}>{one.state}</Badge>
              <span class="source">{one.text}</span>
            </div>
            {one.state === 'pending' ? <span class="small soft">listed once its payment is final</span> : null}
            {one.state === 'live' && one.open > 0 ? (
              <button type="button" class="button small" disabled={busy} onClick={() => withdraw(one)}>
                Withdraw
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      <Problem problem={problem} />
    </>
  )
}
