import type { Subscription } from '@assay/sdk'
import { useStore } from '../../app/store.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { ProblemError } from '../../node/problem.ts'
import { sentence, timeText } from '../../ui/format.ts'
import { Badge } from '../../ui/parts.tsx'
import { bearerOf, subscriptionTokens } from '../../wallet/tokens.ts'
import type { Wallet } from '../../wallet/wallet-store.ts'
import { SignedPanel } from './signed-panel.tsx'

type Status = {
  subscription: Subscription
  active: boolean
  used: { this_minute: number; today: number }
  fair_use: { pulls_per_day: number }
}

export function SubscriptionPanel({ wallet }: { wallet: Wallet }) {
  const index = useNode()
  useStore(subscriptionTokens)
  if (!offers(index, '/v1/subscriptions')) return null
  const url = `${index.base_url}/v1/subscriptions`
  const read = async (): Promise<Status | undefined> => {
    try {
      const headers = bearerOf(wallet.address)
      if (Object.keys(headers).length > 0) return (await ask<Status>(url, { headers })).body
      const { askSignedIn } = await import('../../wallet/sign-and-pay.ts')
      return await askSignedIn<Status>(index, wallet, url)
    } catch (error) {
      if (error instanceof ProblemError && error.status === 404) return undefined
      throw error
    }
  }
  return (
    <SignedPanel
      id="subscription"
      title="Subscription"
      wallet={wallet}
      why="Sign in to see it. Signing in moves no money."
      read={read}
    >
      {(status) =>
        status === undefined ? (
          <p>
            None. <a href="#/matrix">See the plans</a> on the matrix page.
          </p>
        ) : (
          <dl class="facts">
            <dt>Tier</dt>
            <dd>
              {sentence(status.subscription.tier)}{' '}
              <Badge tone={status.active ? 'good' : 'warn'}>{status.active ? 'active' : 'ended'}</Badge>
            </dd>
            <dt>Until</dt>
            <dd>{timeText(status.subscription.until_at)}</dd>
            <dt>Used today</dt>
            <dd>
              {status.used.today} of {status.fair_use.pulls_per_day.toLocaleString('en-US')} pulls
            </dd>
          </dl>
        )
      }
    </SignedPanel>
  )
}
