import type { AnswerOf } from '@assay/sdk'
import { useEffect, useState } from 'preact/hooks'
import { linkTo } from '../../app/route.ts'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { networkName } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { shortHex } from '../../ui/format.ts'
import { Age, Await, Badge, Hex, Money, Scroll } from '../../ui/parts.tsx'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { stateTones } from '../wallet/payment-list.ts'

type Found = AnswerOf<'operator.payments'>

/** Single payments: the newest, or those of a payer, a route or an id. */
export function PaymentSearch({ asked, onSearch }: { asked: string | undefined; onSearch: (text: string) => void }) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [search, setSearch] = useState('')
  useEffect(() => {
    if (asked) setSearch(asked)
  }, [asked])
  const [found] = useAnswer(asked ?? null, async () => {
    const { askSigned } = await import('../../wallet/sign-and-pay.ts')
    if (wallet === undefined) throw new Error('no wallet is connected')
    const query = asked ? `?search=${encodeURIComponent(asked)}` : ''
    return askSigned<Found>(index, wallet, `${index.base_url}/v1/operator/payments${query}`)
  })
  return (
    <section class="sheet" aria-labelledby="search-payments">
      <h2 id="search-payments">Find a payment</h2>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          onSearch(search.trim())
        }}
      >
        <input
          aria-label="Payer, route or payment id"
          placeholder="Payer, route or payment id; empty for the newest"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <button type="submit" class="button" disabled={wallet === undefined}>
          Sign and find
        </button>
      </form>
      <Await of={found} what="Looking for payments">
        {({ data }) => (data.length === 0 ? <p class="soft">None found.</p> : <Rows data={data} />)}
      </Await>
    </section>
  )
}

function Rows({ data }: { data: Found['data'] }) {
  const index = useNode()
  return (
    <Scroll label="Payments found">
      <table>
        <tbody>
          {data.map((row) => (
            <tr key={row.id}>
              <td>
                <Badge tone={stateTones[row.state] ?? 'calm'}>{row.state}</Badge>
              </td>
              <th scope="row" class="right">
                <Money micro={row.amount_micro} />
              </th>
              <td class="mono">{row.route}</td>
              <td>
                <Hex value={row.payer} what="payer" />
              </td>
              <td>{networkName(index, row.network)}</td>
              <td>
                <Age at={row.claimed_at} />
              </td>
              <td>
                <a class="mono" href={linkTo('wallet', ['payments', row.id])} title={row.id}>
                  {shortHex(row.id)}
                </a>
              </td>
              <td class="small">{row.reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
