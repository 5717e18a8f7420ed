import { useNode } from '../../node/context.ts'
import { type NodeIndex, networkName } from '../../node/node-index.ts'
import { count, sentence, words } from '../../ui/format.ts'
import { Age, Badge, Heads, Hex, Money, Notice, Scroll, type Tone } from '../../ui/parts.tsx'
import { Actor } from './actor.tsx'
import { attentionOf } from './attention.ts'
import type { Overview } from './types.ts'

export function Attention({ overview }: { overview: Overview }) {
  const wants = attentionOf(overview)
  return (
    <section class="sheet" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      {wants.length === 0 ? (
        <Notice tone="good">
          <strong>Nothing.</strong>
          <p>The books balance, no alarm rang since this process started, no payment hangs.</p>
        </Notice>
      ) : (
        <ul class="flag-list">
          {wants.map(({ tone, text, toDo }) => (
            <li key={text}>
              <Badge tone={tone}>{tone === 'bad' ? 'alarm' : 'warning'}</Badge>
              <span>
                {text}
                {toDo === undefined ? null : <span class="source">What to do: {toDo.replaceAll('`', '')}</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** Shown from the operator's side: what is owned and earned reads positive, whatever the sign in the books. */
export function Books({ books }: { books: Overview['books'] }) {
  const index = useNode()
  return (
    <section class="sheet" aria-labelledby="books">
      <header>
        <h2 id="books">Books</h2>
        <Badge tone={books.balanced ? 'good' : 'bad'}>{books.balanced ? 'balanced' : 'not balanced'}</Badge>
      </header>
      {books.accounts.length === 0 ? <p class="soft">No entries yet.</p> : null}
      <Scroll label="Balances">
        <table>
          <Heads titles={['Account', 'Kind', 'Unit', 'Balance']} right={['Balance']} />
          <tbody>
            {books.accounts.map((row) => (
              <tr key={`${row.group} ${row.kind} ${row.unit}`}>
                <th scope="row">
                  {sentence(row.group).replace('Onchain', 'On chain')}{' '}
                  {row.accounts > 1 ? <span class="soft small">{count(row.accounts)} accounts</span> : null}
                </th>
                <td>{row.kind}</td>
                <td class="small soft">{unitText(index, row.unit)}</td>
                <td class="right">
                  <Balance of={row} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

/** A chain by its name: `eip155:8453/usdc` is USDC on Base. */
function unitText(index: NodeIndex, unit: string): string {
  const [network = '', asset] = unit.split('/')
  return asset === undefined ? unit : `${asset === 'usdc' ? 'USDC' : asset} on ${networkName(index, network)}`
}

function Balance({ of: { kind, unit, balance } }: { of: Overview['books']['accounts'][number] }) {
  const value = kind === 'liability' || kind === 'income' ? -BigInt(balance) : BigInt(balance)
  if (unit.endsWith('/usdc')) return <Money micro={value.toString()} />
  return (
    <>
      {count(Number(value))}
      {unit.endsWith('/gas') ? ' gwei' : ''}
    </>
  )
}

export function Payments({ payments }: { payments: Overview['payments'] }) {
  if (payments.length === 0) return null
  return (
    <section class="sheet" aria-labelledby="payments">
      <h2 id="payments">Payments by state</h2>
      <Scroll label="How many payments are in which state">
        <table>
          <Heads titles={['State', 'How many', 'Amount', 'Oldest']} right={['How many', 'Amount']} />
          <tbody>
            {payments.map((row) => (
              <tr key={row.state}>
                <th scope="row">{row.state}</th>
                <td class="right">{count(row.payments)}</td>
                <td class="right">
                  <Money micro={row.amount_micro} />
                </td>
                <td>
                  <Age at={row.oldest_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

export const payoutTones: Record<string, Tone> = {
  paid: 'good',
  parked: 'warn',
  waiting: 'warn',
  returned: 'bad',
  refused: 'bad',
}

export function Payouts({ payouts }: { payouts: Overview['payouts'] }) {
  const index = useNode()
  if (payouts.length === 0)
    return (
      <section class="sheet" aria-labelledby="payouts">
        <h2 id="payouts">Payouts</h2>
        <p class="soft">None yet. They appear when creators, affiliates or refunds are due.</p>
      </section>
    )
  return (
    <section class="sheet" aria-labelledby="payouts">
      <h2 id="payouts">Payouts</h2>
      <Scroll label="Newest payouts">
        <table>
          <Heads titles={['State', 'Amount', 'For', 'To', 'Network', 'Due', 'Why it waits']} right={['Amount']} />
          <tbody>
            {payouts.map((row) => (
              <tr key={row.id}>
                <td>
                  <Badge tone={payoutTones[row.state] ?? 'calm'}>{row.state}</Badge>
                </td>
                <th scope="row" class="right">
                  <Money micro={row.amount_micro} />
                </th>
                <td>{words(row.purpose)}</td>
                <td>
                  <Hex value={row.payee} />
                </td>
                <td>{networkName(index, row.network)}</td>
                <td>
                  <Age at={row.created_at} />
                </td>
                <td class="small">{row.reason === null ? '' : words(row.reason)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

export function Audit({ audit }: { audit: Overview['audit'] }) {
  return (
    <section class="sheet" aria-labelledby="audit">
      <h2 id="audit">Audit log</h2>
      {audit.length === 0 ? <p class="soft">Nothing was changed by hand.</p> : null}
      <ul class="plain-list">
        {audit.map((row) => (
          <li key={`${row.at} ${row.action} ${row.subject}`}>
            <Age at={row.at} />
            <span>
              <b>{sentence(row.action)}</b> <span class="mono">{row.subject}</span>{' '}
              <span class="soft">
                by <Actor name={row.actor} />
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
