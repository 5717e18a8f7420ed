import type { OptionHoldings, OptionWithdrawal } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useNode } from '../../node/context.ts'
import { asProblem, type ProblemError } from '../../node/problem.ts'
import { centsOfMicro } from '../../ui/format.ts'
import { Badge, Problem, type Tone } from '../../ui/parts.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'

type Offer = OptionHoldings['offers'][number]

const tones: Record<string, Tone> = { pending: 'calm', live: 'good', closed: 'plain', revoked: 'bad' }

/** Contracts this wallet wrote. What nobody bought comes back when its owner signs for it. */
export function OwnOffers({ offers, wallet, again }: { offers: readonly Offer[]; wallet: Wallet; again: () => void }) {
  const index = useNode()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<ProblemError>()
  if (offers.length === 0) return null
  const withdraw = async ({ offer_id }: Offer) => {
    setBusy(true)
    setProblem(undefined)
    try {
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      const url = `${index.api_url}/v1/options/withdraw`
      const body = { offer_id }
      const taken = await askSigned<OptionWithdrawal>(index, wallet, url, { method: 'POST', body })
      announce(`Withdrawn; ${centsOfMicro(taken.returned_micro)} come back`)
      again()
    } catch (error) {
      setProblem(asProblem(error))
    }
    setBusy(false)
  }
  return (
    <>
      <h3>Written by you</h3>
      <ul class="switches">
        {offers.map((offer) => (
          <li key={offer.offer_id}>
            <div>
              <span class="mono">{offer.symbol}</span> <Badge tone={tones[offer.state] ?? 'plain'}>{offer.state}</Badge>
              <span class="source">
                {offer.quantity} at {centsOfMicro(offer.premium_micro)}, {offer.sold_quantity} sold,{' '}
                {centsOfMicro(offer.collateral_micro)} collateral
              </span>
            </div>
            {offer.state === 'pending' ? <span class="small soft">listed once its payment is final</span> : null}
            {offer.state === 'live' && offer.free_quantity > 0 ? (
              <button type="button" class="button small" disabled={busy} onClick={() => withdraw(offer)}>
                Withdraw
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      {problem === undefined ? null : <Problem problem={problem} />}
    </>
  )
}
