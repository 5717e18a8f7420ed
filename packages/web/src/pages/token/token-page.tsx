import type { TokenCheck } from '@assay/sdk'
import { useEffect, useState } from 'preact/hooks'
import type { PageProps } from '../../app/pages.ts'
import { go, linkTo } from '../../app/route.ts'
import { useStore } from '../../app/store.ts'
import { type Answer, ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { usd } from '../../ui/format.ts'
import { Await, PageHead, Synthetic } from '../../ui/parts.tsx'
import { Signed } from '../../ui/signed.tsx'
import { BuyButton } from '../../wallet/buy-button.tsx'
import type { Bought } from '../../wallet/order.ts'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import { ControlGraph } from './control-graph.tsx'
import { Flags } from './flags.tsx'
import { FullReport } from './full-report.tsx'
import { PowersTable } from './powers-table.tsx'
import { ControlHistory } from './timeline.tsx'
import { Verdict } from './verdict.tsx'
import { WalletView } from './wallet-view.tsx'

/** Who controls a token: verdict and powers for nothing, the whole story for the price of the report. */
export function TokenPage({ route }: PageProps) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const address = route.rest[0] ?? ''
  const holder = route.query.get('wallet') ?? ''
  const [check, again] = useAnswer(address === '' ? null : `${address} ${holder}`, (signal) =>
    ask<TokenCheck>(
      `${index.base_url}/v1/check/${encodeURIComponent(address)}${holder === '' ? '' : `?wallet=${encodeURIComponent(holder)}`}`,
      { signal },
    ),
  )
  return (
    <>
      <PageHead title="Who controls a token?">
        <p class="lead">
          Reads a B20 token on Base at one block and says who can mint, seize, freeze, pause or change it, now or later.
        </p>
      </PageHead>
      <AddressForm address={address} holder={holder} own={wallet?.address} />
      {address === '' ? <DemoTokens /> : null}
      <Await of={check} what="Reading the token" again={again}>
        {(answer) => <Checked answer={answer} />}
      </Await>
    </>
  )
}

function AddressForm({ address, holder, own }: { address: string; holder: string; own: string | undefined }) {
  const [text, setText] = useState(address)
  const [asHolder, setAsHolder] = useState(holder !== '')
  useEffect(() => setText(address), [address])
  return (
    <form
      class="stack tight"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() !== '') go('token', [text.trim()], asHolder && own !== undefined ? { wallet: own } : {})
      }}
    >
      <div class="ask">
        <input
          aria-label="Token address"
          class="mono"
          placeholder="0x…"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          spellcheck={false}
          autocomplete="off"
        />
        <button type="submit" class="button main">
          Check, free
        </button>
      </div>
      {own === undefined ? null : (
        <label class="row small">
          <input type="checkbox" checked={asHolder} onChange={(event) => setAsHolder(event.currentTarget.checked)} />
          Also say what it means for my wallet
        </label>
      )}
    </form>
  )
}

function DemoTokens() {
  const tokens = useNode().demo?.tokens ?? []
  if (tokens.length === 0) return null
  return (
    <section class="sheet" aria-labelledby="demo-tokens">
      <header>
        <h2 id="demo-tokens">Demo tokens</h2>
        <Synthetic of={true} />
      </header>
      <ul class="plain-list">
        {tokens.map((token) => (
          <li key={token.address}>
            <a href={linkTo('token', [token.address])}>{token.key ?? token.address}</a>
            <span class="soft">{token.what}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Checked({ answer }: { answer: Answer<TokenCheck> }) {
  const index = useNode()
  const check = answer.body
  const [bought, setBought] = useState<{ of: string; value: Bought }>()
  const report = bought?.of === check.address ? bought.value : undefined
  const symbol = typeof check.token.symbol === 'string' ? check.token.symbol : check.address
  const order = { what: `Full report on ${symbol}`, url: `${index.base_url}/v1/report/${check.address}` }
  return (
    <div class="stack wide-gap">
      <Verdict check={check} signed={<Signed exchange={answer.exchange} />} />
      {check.wallet === undefined ? null : <WalletView wallet={check.wallet} />}
      <Flags flags={check.flags} />
      <section class="sheet" aria-labelledby="powers">
        <h2 id="powers">Powers</h2>
        <PowersTable powers={check.powers} />
      </section>
      <section class="sheet" aria-labelledby="graph">
        <h2 id="graph">Who holds what</h2>
        <ControlGraph powers={check.powers} />
      </section>
      <ControlHistory check={check} />
      {report === undefined ? (
        <section class="sheet offer" aria-labelledby="offer">
          <h2 id="offer">The full report</h2>
          <p>
            Every holder with the transaction that made them one, policies and their members, seize paths, genesis,
            history, questions to put to the issuer, and an attestation that verifies offline.
          </p>
          <div class="row">
            <BuyButton
              order={order}
              label={`Buy the report for ${usd(check.report.price_usd)}`}
              onBought={(value) => setBought({ of: check.address, value })}
            />
            <span class="small soft">You see price, network and payee before anything is signed.</span>
          </div>
        </section>
      ) : (
        <FullReport bought={report} symbol={symbol} decimals={check.token.decimals} network={check.network} />
      )}
    </div>
  )
}
