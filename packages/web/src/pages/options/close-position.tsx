import type { OptionBid, OptionClosing, OptionHoldings } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { asProblem, type ProblemError } from '../../node/problem.ts'
import { useEvery } from '../../node/use-every.ts'
import { centsOfMicro } from '../../ui/format.ts'
import { Problem } from '../../ui/parts.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'

type Props = { position: OptionHoldings['positions'][number]; wallet: Wallet; again: () => void }

/** One contract at a time, at a bid that is shown before it is signed. */
export function ClosePosition({ position, wallet, again }: Props) {
  const index = useNode()
  const [bid, setBid] = useState<OptionBid>()
  const [, look] = useState(0)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<ProblemError>()
  useEvery(1_000, () => look(Date.now()))
  const left = bid === undefined ? 0 : Math.floor((Date.parse(bid.expires_at) - Date.now()) / 1000)
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true)
    setProblem(undefined)
    await work().catch((error: unknown) => setProblem(asProblem(error)))
    setBusy(false)
  }
  const askBid = () =>
    attempt(async () => {
      const body = { position_id: position.position_id, quantity: 1 }
      setBid((await ask<OptionBid>(`${index.api_url}/v1/options/bid`, { body })).body)
    })
  const sell = (bid_id: string) =>
    attempt(async () => {
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      const url = `${index.api_url}/v1/options/close`
      const body = { position_id: position.position_id, bid_id }
      const closed = await askSigned<OptionClosing>(index, wallet, url, { method: 'POST', body })
      announce(`Sold back; ${centsOfMicro(closed.paid_micro)} are on their way`)
      setBid(undefined)
      again()
    })
  return (
    <>
      {bid !== undefined && left > 0 ? (
        <button type="button" class="button small" disabled={busy} onClick={() => sell(bid.bid_id)}>
          Sell one for {centsOfMicro(bid.bid_micro)}, {left} s
        </button>
      ) : (
        <button type="button" class="button small" disabled={busy} onClick={askBid}>
          Get a bid
        </button>
      )}
      {problem === undefined ? null : <Problem problem={problem} />}
    </>
  )
}
