import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { networkName } from '../../node/node-index.ts'
import { asProblem, type ProblemError } from '../../node/problem.ts'
import { usdOfMicro } from '../../ui/format.ts'
import { Age, Badge, Hex, Problem, Scroll } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import type { Withdrawals as Shown } from './types.ts'

/** The operator's own money in custody. Each withdrawal is signed by itself and goes to a configured address. */
export function Withdrawals({ withdrawals, onChanged }: { withdrawals: Shown; onChanged: () => void }) {
  const index = useNode()
  return (
    <section class="sheet" aria-labelledby="withdrawals">
      <h2 id="withdrawals">Your money in custody</h2>
      {withdrawals.custody.length === 0 ? <p class="soft">Not read yet.</p> : null}
      <Scroll label="Custody by network">
        <table>
          <thead>
            <tr>
              <th scope="col">Network</th>
              {['Withdrawable', 'On chain', 'Of others', 'Your debts', 'On its way', 'Reserved'].map((title) => (
                <th scope="col" class="right" key={title}>
                  {title}
                </th>
              ))}
              <th scope="col">As of</th>
            </tr>
          </thead>
          <tbody>
            {withdrawals.custody.map((row) => (
              <tr key={row.network}>
                <th scope="row">{networkName(index, row.network)}</th>
                <td class="right">
                  <b>{usdOfMicro(row.withdrawable_micro)}</b>
                </td>
                <td class="right">{usdOfMicro(row.balance_micro)}</td>
                <td class="right">{usdOfMicro(row.others_micro)}</td>
                <td class="right">{usdOfMicro(row.debts_micro)}</td>
                <td class="right">{usdOfMicro(row.leaving_micro)}</td>
                <td class="right">{usdOfMicro(row.reserved_micro)}</td>
                <td>
                  <Age at={row.checked_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <WithdrawForm withdrawals={withdrawals} onChanged={onChanged} />
      <ul class="plain-list">
        {withdrawals.newest.map((row) => (
          <li key={row.id}>
            <Age at={row.requested_at} />
            <span>
              <Badge tone={row.state === 'refused' ? 'bad' : row.payout?.state === 'paid' ? 'good' : 'calm'}>
                {row.payout?.state ?? row.state}
              </Badge>{' '}
              {row.payout === null ? null : usdOfMicro(row.payout.amount_micro)} to <Hex value={row.to} /> on{' '}
              {networkName(index, row.network)} {row.outcome}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function WithdrawForm({ withdrawals, onChanged }: { withdrawals: Shown; onChanged: () => void }) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [chosen, setChosen] = useState(0)
  const [amount, setAmount] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<ProblemError>()
  const destination = withdrawals.destinations[chosen]
  if (destination === undefined) return <p class="soft">No destination is configured: set WITHDRAW_TO.</p>
  const send = async () => {
    if (wallet === undefined) return
    setBusy(true)
    setProblem(undefined)
    try {
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      const { network, address: to } = destination
      const body = { network, to, ...(amount.trim() === '' ? {} : { amount_usd: amount.trim() }) }
      await askSigned(index, wallet, `${index.base_url}/v1/operator/withdrawals`, { method: 'POST', body })
      announce('withdrawal requested')
      onChanged()
    } catch (error) {
      setProblem(asProblem(error))
    }
    setBusy(false)
  }
  return (
    <>
      <div class="row">
        <label class="field">
          <span>To</span>
          <select value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {withdrawals.destinations.map(({ network, address }, place) => (
              <option key={`${network} ${address}`} value={place}>
                {networkName(index, network)}: {address}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Amount in USD, empty for all</span>
          <input value={amount} inputMode="decimal" onInput={(event) => setAmount(event.currentTarget.value)} />
        </label>
        <button type="button" class="button small" disabled={busy || wallet === undefined} onClick={send}>
          Withdraw
        </button>
      </div>
      {problem === undefined ? null : <Problem problem={problem} />}
    </>
  )
}
