import type { PageProps } from '../../app/pages.ts'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { Hex, Notice, PageHead, Synthetic } from '../../ui/parts.tsx'
import { ConnectWallet } from '../../wallet/connect-wallet.tsx'
import { walletName, wallet as walletStore } from '../../wallet/wallet-store.ts'
import { Affiliate } from './affiliate.tsx'
import { Credit } from './credit.tsx'
import { Identity } from './identity.tsx'
import { Mandates } from './mandates.tsx'
import { PaymentPage } from './payment-page.tsx'
import { BrowserPurchases, NodePayments } from './payments.tsx'
import { Points } from './points.tsx'
import { SubscriptionPanel } from './subscription-panel.tsx'

/** Everything that belongs to one wallet, or one of its payments. */
export function WalletPage({ route: { rest } }: PageProps) {
  const [part, id] = rest
  return part === 'payments' && id !== undefined ? <PaymentPage id={id} /> : <OwnWallet />
}

function OwnWallet() {
  const index = useNode()
  const wallet = useStore(walletStore)
  return (
    <>
      <PageHead title="Wallet">
        <p class="lead">Who you are here is the wallet you sign with. There is no account beside it.</p>
      </PageHead>
      <section class="sheet" aria-labelledby="connected">
        <header>
          <h2 id="connected">{wallet === undefined ? 'No wallet connected' : walletName(wallet)}</h2>
          <Synthetic of={index.demo !== undefined} />
        </header>
        {wallet === undefined ? null : <Hex value={wallet.address} whole />}
        <ConnectWallet />
        {index.demo === undefined ? (
          <p class="small soft">The console asks your wallet for signatures only, and never to send a transaction.</p>
        ) : (
          <Notice tone="warn">
            <p class="small">
              These wallets are lent by the demo node and their keys are public. Your own wallet is never asked for
              anything here.
            </p>
          </Notice>
        )}
      </section>
      {wallet === undefined ? null : (
        <div class="masonry" key={wallet.address}>
          <Credit wallet={wallet} />
          <SubscriptionPanel wallet={wallet} />
          <Mandates wallet={wallet} />
          <Identity wallet={wallet} />
          <Points wallet={wallet} />
          <Affiliate wallet={wallet} />
        </div>
      )}
      {wallet === undefined ? null : <NodePayments key={wallet.address} wallet={wallet} />}
      <BrowserPurchases />
    </>
  )
}
