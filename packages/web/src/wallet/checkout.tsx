import type { Quote } from '@assay/sdk'
import { useEffect, useRef } from 'preact/hooks'
import { useStore } from '../app/store.ts'
import { useNode } from '../node/context.ts'
import { networkName } from '../node/node-index.ts'
import { usd } from '../ui/format.ts'
import { Badge, Hex, Notice, Problem, Synthetic, Waiting } from '../ui/parts.tsx'
import { ConnectWallet } from './connect-wallet.tsx'
import type { Bought, Order } from './order.ts'
import { useCheckout } from './use-checkout.ts'
import { walletName, wallet as walletStore } from './wallet-store.ts'

type Props = { order: Order; onBought: (bought: Bought) => void; onClose: () => void }

/** Shows what would be spent before it is spent: price, network, payee. */
export function Checkout({ order, onBought, onClose }: Props) {
  const index = useNode()
  const wallet = useStore(walletStore)
  const dialog = useRef<HTMLDialogElement>(null)
  const { step, pay } = useCheckout(order, onBought)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  const busy = step.step === 'paying'
  return (
    <dialog
      ref={dialog}
      aria-labelledby="checkout-title"
      onCancel={(event) => busy && event.preventDefault()}
      onClose={onClose}
    >
      <div class="stack">
        <div class="row apart">
          <h2 id="checkout-title">{order.what}</h2>
          <Synthetic of={index.demo !== undefined} />
        </div>
        {wallet === undefined ? <ConnectWallet /> : null}
        {wallet !== undefined && step.step === 'asking' ? <Waiting what="Asking the node for its price" /> : null}
        {step.step === 'priced' || step.step === 'paying' ? <Terms quote={step.quote} /> : null}
        {step.step === 'failed' ? <Problem problem={step.problem} /> : null}
        {busy ? (
          <Notice tone="good">
            <strong role="status">{step.text}…</strong>
          </Notice>
        ) : null}
        <div class="row">
          {step.step === 'priced' ? (
            <button type="button" class="button main" onClick={() => pay(step.quote)}>
              Pay {usd(step.quote.priceUsd)}
            </button>
          ) : null}
          {step.step === 'failed' && step.quote !== undefined && step.purchase !== undefined ? (
            <button type="button" class="button main" onClick={() => step.quote && pay(step.quote, step.purchase)}>
              Ask again with the same payment
            </button>
          ) : null}
          <button type="button" class="button" disabled={busy} onClick={() => dialog.current?.close()}>
            {step.step === 'failed' ? 'Close' : 'Cancel'}
          </button>
        </div>
      </div>
    </dialog>
  )
}

function Terms({ quote }: { quote: Quote }) {
  const index = useNode()
  const wallet = useStore(walletStore)
  return (
    <>
      <p class="price">
        {usd(quote.priceUsd)}
        <small>{index.demo === undefined ? 'USDC' : 'test USDC, worth nothing'}</small>
      </p>
      <dl class="facts">
        <dt>Network</dt>
        <dd>
          {networkName(index, quote.network)} <span class="soft">({quote.network})</span>
        </dd>
        <dt>To</dt>
        <dd>
          <Hex value={quote.payTo} what="payee" />
        </dd>
        <dt>From</dt>
        <dd>
          {wallet === undefined ? null : (
            <>
              {walletName(wallet)} <Hex value={wallet.address} />
            </>
          )}
        </dd>
        <dt>Buys</dt>
        <dd class="mono">{quote.resource}</dd>
        <dt>Payment method</dt>
        <dd>
          {quote.why}
          {quote.advice === undefined ? null : <span class="soft"> · {quote.advice}</span>}
        </dd>
        <dt>Safety</dt>
        <dd>
          {quote.bound ? (
            <Badge tone="good">good for this request only</Badge>
          ) : (
            <Badge tone="warn">not bound to the request</Badge>
          )}
        </dd>
      </dl>
      <p class="small soft">You sign one USDC authorization. The node sends the transaction and pays the gas.</p>
    </>
  )
}
