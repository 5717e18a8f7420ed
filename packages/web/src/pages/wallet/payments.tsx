import { useState } from 'preact/hooks'
import { linkTo } from '../../app/route.ts'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { networkName, offers } from '../../node/node-index.ts'
import { asProblem, type ProblemError } from '../../node/problem.ts'
import { shortHex } from '../../ui/format.ts'
import { Age, Badge, Heads, Hex, Money, Problem, Scroll, saveFile } from '../../ui/parts.tsx'
import { purchases } from '../../wallet/purchases.ts'
import type { Wallet } from '../../wallet/wallet-store.ts'
import { filterPayments, type Payment, paymentsCsv, stateTones } from './payment-list.ts'
import { SignedPanel } from './signed-panel.tsx'

type Page = { data: Payment[]; next_cursor: string | null }

/** What the node's own books say this wallet paid. */
export function NodePayments({ wallet }: { wallet: Wallet }) {
  const index = useNode()
  if (!offers(index, '/v1/wallet/payments')) return null
  const read = async (cursor?: string) => {
    const { askSigned } = await import('../../wallet/sign-and-pay.ts')
    const from = cursor === undefined ? '' : `&cursor=${cursor}`
    return askSigned<Page>(index, wallet, `${index.base_url}/v1/wallet/payments?limit=100${from}`)
  }
  return (
    <SignedPanel
      id="payments"
      title="Payments in the node’s books"
      wallet={wallet}
      why="Only you may see what you bought, so your wallet signs the question."
      read={() => read()}
    >
      {(first) =>
        first.data.length === 0 ? (
          <p class="soft">This wallet has paid nothing here yet.</p>
        ) : (
          <List first={first} older={read} />
        )
      }
    </SignedPanel>
  )
}

function List({ first, older }: { first: Page; older: (cursor: string) => Promise<Page> }) {
  const [filter, setFilter] = useState('')
  const [more, setMore] = useState<Page>({ data: [], next_cursor: first.next_cursor })
  const shown = filterPayments([...first.data, ...more.data], filter)
  const [problem, setProblem] = useState<ProblemError>()
  const next = more.next_cursor
  return (
    <div class="stack tight">
      <div class="row">
        <input
          aria-label="Filter the payments"
          placeholder="State, route, network or id"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <button
          type="button"
          class="button small"
          onClick={() => saveFile('payments.csv', paymentsCsv(shown), 'text/csv')}
        >
          Export {shown.length} as CSV
        </button>
      </div>
      {shown.length === 0 ? <p class="soft">No payment fits this filter.</p> : <Table data={shown} />}
      <Problem problem={problem} />
      {next === null ? null : (
        <button
          type="button"
          class="button small"
          onClick={() =>
            older(next).then(
              (page) => setMore({ data: [...more.data, ...page.data], next_cursor: page.next_cursor }),
              (error: unknown) => setProblem(asProblem(error)),
            )
          }
        >
          Sign and show older
        </button>
      )}
    </div>
  )
}

function Table({ data }: { data: readonly Payment[] }) {
  const index = useNode()
  return (
    <Scroll label="Payments">
      <table>
        <Heads titles={['State', 'Amount', 'For', 'Network', 'When', 'Payment']} right={['Amount']} />
        <tbody>
          {data.map((payment) => (
            <tr key={payment.id}>
              <td>
                <Badge tone={stateTones[payment.state] ?? 'calm'}>{payment.state}</Badge>{' '}
                {payment.final ? null : <span class="small soft">not final</span>}
              </td>
              <td class="right">
                <Money micro={payment.amount_micro} />
              </td>
              <td class="mono">{payment.route}</td>
              <td>{networkName(index, payment.network)}</td>
              <td>
                <Age at={payment.claimed_at} />
              </td>
              <td>
                <a class="mono" href={linkTo('wallet', ['payments', payment.id])} title={payment.id}>
                  {shortHex(payment.id)}
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

/** The buyer's own note, kept by this browser. */
export function BrowserPurchases() {
  const index = useNode()
  const notes = useStore(purchases)
  return (
    <section class="sheet" aria-labelledby="bought-here">
      <h2 id="bought-here">Bought with this browser</h2>
      {notes.length === 0 ? (
        <p class="soft">
          Nothing yet. Start with <a href={linkTo('token')}>a report on a token</a>.
        </p>
      ) : (
        <ul class="prices">
          {notes.slice(0, 20).map((note) => (
            <li key={note.transaction}>
              <div>
                <span>{note.what}</span>
                <span class="small soft">
                  <Age at={note.at} /> on {networkName(index, note.network)}, transaction{' '}
                  <Hex value={note.transaction} what="transaction" />
                </span>
              </div>
              <b>
                <Money micro={note.amountMicro} />
              </b>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
