import type { AnswerOf } from '@assay/sdk'
import { Fragment } from 'preact'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { timeText } from '../../ui/format.ts'
import { Badge } from '../../ui/parts.tsx'
import { subscriptionTokens } from '../../wallet/tokens.ts'
import type { Wallet } from '../../wallet/wallet-store.ts'
import { SignedPanel } from './signed-panel.tsx'

/** Everything the wallet is subscribed to: a token would show the one it belongs to, so the wallet signs in. */
export function SubscriptionPanel({ wallet }: { wallet: Wallet }) {
  const index = useNode()
  useStore(subscriptionTokens)
  if (!offers(index, '/v1/subscriptions/list')) return null
  const read = async () => {
    const { askSignedIn } = await import('../../wallet/sign-and-pay.ts')
    return askSignedIn<AnswerOf<'subscriptions.list'>>(index, wallet, `${index.base_url}/v1/subscriptions/list`)
  }
  return (
    <SignedPanel
      id="subscription"
      title="Subscriptions"
      wallet={wallet}
      why="Sign in to see them. Signing in moves no money."
      read={read}
    >
      {({ data, fair_use }) =>
        data.length === 0 ? (
          <p>
            None. <a href="#/matrix">See the plans</a> on the matrix page.
          </p>
        ) : (
          <dl class="facts">
            {data.map(({ product, subscription, active, used_today }) => (
              <Fragment key={product}>
                <dt>
                  {product === 'stream'
                    ? 'Intent stream'
                    : `Market data, ${subscription.tier === 'vip' ? 'VIP' : subscription.tier}`}
                </dt>
                <dd>
                  <Badge tone={active ? 'good' : 'warn'}>{active ? 'active' : 'ended'}</Badge> until{' '}
                  {timeText(subscription.until_at)}
                  {used_today === null ? null : (
                    <p class="small">
                      Used today: {used_today} of {fair_use.pulls_per_day.toLocaleString('en-US')} pulls
                    </p>
                  )}
                </dd>
              </Fragment>
            ))}
          </dl>
        )
      }
    </SignedPanel>
  )
}
