import { useState } from 'preact/hooks'
import { announce } from '../../app/announce.ts'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { explorerUrl, networkName } from '../../node/node-index.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { shortHex } from '../../ui/format.ts'
import { Age, Badge, Heads, Hex, Money, Problem, Scroll } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { payoutTones } from './overview-parts.tsx'
import type { Withdrawals as Shown } from './types.ts'

const custodyFigures = ['Withdrawable', 'On chain', 'Of others', 'Your debts', 'On its way', 'Reserved']

/** The operator's own money in custody. Each withdrawal is signed by itself and goes to a configured address. */
export function Withdrawals({ withdrawals, onChanged }: { withdrawals: Shown; onChanged: () => void }) {
  const index = useNode()
  const [oldest] = withdrawals.custody.map(({ checked_at }) => checked_at).sort()
  return (
    <section class="sheet" aria-labelledby="withdrawals">
      <h2 id="withdrawals">Your money in custody</h2>
      {withdrawals.custody.length === 0 ? (
        <p class="soft">Not read yet: the balances are compared with the chain within a minute.</p>
      ) : null}
      <Scroll label="Custody by network">
        <table>
          <Heads titles={['Network', ...custodyFigures]} right={custodyFigures} />
          <tbody>
            {withdrawals.custody.map((row) => (
              <tr key={row.network}>
                <th scope="row">{networkName(index, row.network)}</th>
                <td class="right">
                  <b>
                    <Money micro={row.withdrawable_micro} />
                  </b>
                </td>
                <td class="right">
                  <Money micro={row.balance_micro} />
                </td>
                <td class="right">
                  <Money micro={row.others_micro} />
                </td>
                <td class="right">
                  <Money micro={row.debts_micro} />
                </td>
                <td class="right">
                  <Money micro={row.leaving_micro} />
                </td>
                <td class="right">
                  <Money micro={row.reserved_micro} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {oldest === undefined ? null : (
        <p class="small soft">
          Compared with the chains <Age at={oldest} />.
        </p>
      )}
      <WithdrawForm withdrawals={withdrawals} onChanged={onChanged} />
      {withdrawals.newest.length === 0 ? null : <Newest rows={withdrawals.newest} />}
    </section>
  )
}

function Newest({ rows }: { rows: Shown['newest'] }) {
  const index = useNode()
  return (
    <Scroll label="Newest withdrawals">
      <table>
        <Heads titles={['State', 'Amount', 'To', 'Network', 'Asked', 'Outcome']} right={['Amount']} />
        <tbody>
          {rows.map(({ id, network, to, state, asked_micro, outcome, requested_at, payout }) => {
            const [now, micro] = [payout?.state ?? state, payout?.amount_micro ?? asked_micro]
            return (
              <tr key={id}>
                <td>
                  <Badge tone={payoutTones[now] ?? 'calm'}>{now}</Badge>
                </td>
                <td class="right">{micro === null ? 'all' : <Money micro={micro} />}</td>
                <td>
                  <Hex value={to} />
                </td>
                <td>{networkName(index, network)}</td>
                <td>
                  <Age at={requested_at} />
                </td>
                <td class="small">
                  {(outcome ?? payout?.reason ?? '').replaceAll('_', ' ')}
                  {payout?.transaction ? (
                    <Hex
                      value={payout.transaction}
                      what="transaction"
                      href={explorerUrl(index, network, 'tx', payout.transaction)}
                    />
                  ) : null}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scroll>
  )
}

function WithdrawForm({ withdrawals, onChanged }: { withdrawals: Shown; onChanged: () => void }) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [chosen, setChosen] = useState(0)
  const [amount, setAmount] = useState('')
  const { busy, problem, attempt } = useAttempt()
  const destination = withdrawals.destinations[chosen]
  if (destination === undefined) return <p class="soft">No destination is configured: set WITHDRAW_TO.</p>
  const send = async () => {
    if (wallet === undefined) return
    await attempt(async () => {
      const { askSigned } = await import('../../wallet/sign-and-pay.ts')
      const { network, address: to } = destination
      const body = { network, to, ...(amount.trim() === '' ? {} : { amount_usd: amount.trim() }) }
      await askSigned(index, wallet, `${index.base_url}/v1/operator/withdrawals`, { method: 'POST', body })
      announce('The withdrawal is requested')
      onChanged()
    })
  }
  return (
    <>
      <div class="row">
        <label class="field">
          <span>To</span>
          <select value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {withdrawals.destinations.map(({ network, address }, place) => (
              <option key={`${network} ${address}`} value={place}>
                {networkName(index, network)}: {shortHex(address)}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Amount in USD, empty for all</span>
          <input value={amount} inputMode="decimal" onInput={(event) => setAmount(event.currentTarget.value)} />
        </label>
        <button type="button" class="button" disabled={busy || wallet === undefined} onClick={send}>
          Withdraw
        </button>
      </div>
      <Problem problem={problem} />
    </>
  )
}
