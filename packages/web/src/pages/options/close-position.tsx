import type { OptionBid, OptionClosing, OptionHoldings, OptionSeriesDetail } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { useEvery } from '../../node/use-every.ts'
import { centsOfMicro } from '../../ui/format.ts'
import { Problem } from '../../ui/parts.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'
import { type Bid, bestBid } from './best-bid.ts'

type Props = { position: OptionHoldings['positions'][number]; wallet: Wallet; again: () => void }

/** One contract at a time, at a bid of the vault or of the book that is shown before it is signed. */
export function ClosePosition({ position, wallet, again }: Props) {
  const index = useNode()
  const [bid, setBid] = useState<Bid>()
  const [, look] = useState(0)
  const { busy, problem, attempt } = useAttempt()
  useEvery(1_000, () => look(Date.now()))
  const left = bid === undefined ? 0 : Math.floor((bid.untilMs - Date.now()) / 1000)
  const askBid = () =>
    attempt(async () => {
      const { position_id, symbol, closable_quantity } = position
      const body = { position_id, quantity: 1 }
      const [series, vault] = await Promise.all([
        ask<OptionSeriesDetail>(`${index.api_url}/v1/options/series/${encodeURIComponent(symbol)}`),
        closable_quantity === 0 ? undefined : ask<OptionBid>(`${index.api_url}/v1/options/bid`, { body }),
      ])
      setBid(bestBid(series.body.bids, vault?.body, Date.now()))
      if (series.body.bids.length === 0 && !vault) announce('Nobody bids for this series now')
    })
  const sell = ({ order }: Bid) =>
    attempt(async () => {
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      const url = `${index.api_url}/v1/options/close`
      const body = { position_id: position.position_id, ...order }
      const closed = await askSigned<OptionClosing>(index, wallet, url, { method: 'POST', body })
      const later =
        closed.later_micro === '0' ? '' : `, ${centsOfMicro(closed.later_micro)} more when the series is settled`
      announce(`Sold; ${centsOfMicro(closed.paid_micro)} are on their way${later}`)
      setBid(undefined)
      again()
    })
  return (
    <>
      {bid !== undefined && left > 0 ? (
        <button type="button" class="button small" disabled={busy} onClick={() => sell(bid)}>
          Sell one to the {bid.from} for {centsOfMicro(bid.micro)}, {left} s
        </button>
      ) : (
        <button type="button" class="button small" disabled={busy} onClick={askBid}>
          Get a bid
        </button>
      )}
      <Problem problem={problem} />
    </>
  )
}
