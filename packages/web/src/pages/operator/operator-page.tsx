import { useState } from 'preact/hooks'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { readReadiness } from '../../node/read-checks.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { timeText } from '../../ui/format.ts'
import { Await, Badge, Notice, PageHead } from '../../ui/parts.tsx'
import { ConnectWallet } from '../../wallet/connect-wallet.tsx'
import { walletName, wallet as walletStore } from '../../wallet/wallet-store.ts'
import { Customers } from './customers.tsx'
import { Disputes } from './disputes.tsx'
import { MarketData } from './market-data.tsx'
import { Notifications } from './notifications.tsx'
import { Attention, Audit, Books, Payments, Payouts } from './overview-parts.tsx'
import { Pauses } from './pauses.tsx'
import { PaymentSearch } from './payment-search.tsx'
import { Revenue } from './revenue.tsx'
import type { Overview } from './types.ts'
import { Withdrawals } from './withdrawals.tsx'

/** Books, payouts, health and alarms, for a wallet that proves to be the operator's. */
export function OperatorPage() {
  const index = useNode()
  const wallet = useStore(walletStore)
  const [asked, setAsked] = useState(false)
  const [search, setSearch] = useState<string>()
  const showPayments = (of: string) => {
    setSearch(of)
    document.getElementById('search-payments')?.scrollIntoView()
  }
  const url = `${index.base_url}/v1/operator/overview`
  const [overview, again] = useAnswer(asked && wallet !== undefined ? wallet.address : null, async () => {
    const { askSigned } = await import('../../wallet/sign-and-pay.ts')
    if (wallet === undefined) throw new Error('no wallet is connected')
    return askSigned<Overview>(index, wallet, url)
  })
  if (!offers(index, '/v1/operator/overview'))
    return (
      <PageHead title="Operator">
        <Notice>The operator’s routes are not open on this node.</Notice>
      </PageHead>
    )
  return (
    <>
      <PageHead title="Operator">
        <p class="lead">
          The books of this node. Your wallet signs the request itself; there is no password and no session.
        </p>
      </PageHead>
      <section class="sheet" aria-label="Proof">
        {wallet === undefined ? (
          <p>Connect the operator’s wallet to see its books.</p>
        ) : (
          <div class="row">
            <span>
              Signing as <b>{walletName(wallet)}</b>
            </span>
            <button type="button" class="button main" onClick={() => (asked ? again() : setAsked(true))}>
              {overview.state === 'done' ? 'Sign and refresh' : 'Sign and show'}
            </button>
            {overview.state === 'done' ? <span class="small soft">as of {timeText(overview.value.at)}</span> : null}
          </div>
        )}
        <ConnectWallet />
      </section>
      <Health />
      <Await of={overview} what="Reading the books">
        {(shown) => (
          <div class="stack wide-gap">
            <Parts />
            <Attention overview={shown} />
            <Pauses pauses={shown.pauses} role={shown.role} onChanged={again} />
            <Withdrawals withdrawals={shown.withdrawals} onChanged={again} />
            <Disputes disputes={shown.disputes} role={shown.role} onChanged={again} />
            <Notifications notifications={shown.notifications} />
            <Revenue />
            <Customers customers={shown.customers} onOpen={showPayments} />
            <PaymentSearch asked={search} onSearch={setSearch} />
            <Payments payments={shown.payments} />
            <Books books={shown.books} />
            <Payouts payouts={shown.payouts} />
            <Audit audit={shown.audit} />
          </div>
        )}
      </Await>
      <MarketData />
    </>
  )
}

const parts = [
  ['attention', 'Attention'],
  ['pauses', 'Pauses'],
  ['withdrawals', 'Custody'],
  ['disputes', 'Disputes'],
  ['revenue', 'Revenue'],
  ['customers', 'Customers'],
  ['search-payments', 'Payments'],
  ['books', 'Books'],
  ['payouts', 'Payouts'],
  ['audit', 'Audit log'],
  ['market-data', 'Market data'],
] as const

/** The page is long; its address is taken by the name of the page. */
function Parts() {
  const index = useNode()
  const shown = parts.filter(([id]) => id !== 'market-data' || offers(index, '/matrix'))
  return (
    <nav aria-label="Parts of this page">
      <ul class="chips">
        {shown.map(([id, title]) => (
          <li key={id}>
            <button type="button" class="chip" onClick={() => document.getElementById(id)?.scrollIntoView()}>
              {title}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function Health() {
  const index = useNode()
  const [ready, again] = useAnswer('ready', (signal) => readReadiness(index, signal))
  return (
    <section class="sheet" aria-labelledby="health">
      <h2 id="health">Health</h2>
      <Await of={ready} what="Asking the node how it is" again={again}>
        {({ ready, checks, notSold }) => (
          <>
            {ready ? null : (
              <Notice tone="bad">
                <strong>The node is not ready to sell.</strong>
              </Notice>
            )}
            <div class="row">
              {checks.map(({ name, ok }) => (
                <Badge key={name} tone={ok ? 'good' : 'bad'}>
                  {name}: {ok ? 'ok' : 'failed'}
                </Badge>
              ))}
            </div>
            {notSold.length === 0 ? null : (
              <details>
                <summary>{notSold.length} routes are not sold now</summary>
                <ul class="plain-list">
                  {notSold.map(({ route, detail }) => (
                    <li key={route}>
                      <code>{route}</code> {detail}
                    </li>
                  ))}
                </ul>
              </details>
            )}
          </>
        )}
      </Await>
    </section>
  )
}
