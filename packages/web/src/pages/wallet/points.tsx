import type { Loyalty, Redemption } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { capital, count, sentence, timeText, usd } from '../../ui/format.ts'
import { Await, Badge, CopyButton, CopyText, Money, Notice, Problem } from '../../ui/parts.tsx'
import type { Wallet } from '../../wallet/wallet-store.ts'

export function Points({ wallet }: { wallet: Wallet }) {
  const index = useNode()
  const [loyalty, again] = useAnswer(offers(index, '/loyalty/{wallet}') ? wallet.address : null, (signal) =>
    ask<Loyalty>(`${index.base_url}/loyalty/${wallet.address}`, { signal }),
  )
  if (loyalty.state === 'idle') return null
  return (
    <section class="sheet" aria-labelledby="points">
      <h2 id="points">Points</h2>
      <Await of={loyalty} what="Reading the points" again={again}>
        {({ body }) => (
          <>
            <p class="price">
              {count(Math.max(0, Number(body.points) - Number(body.pending_points)))}
              <small>points to redeem</small>
            </p>
            {body.pending_points === '0' ? null : (
              <p class="small soft">
                {count(Number(body.pending_points))} more are pending until their payment is final.
              </p>
            )}
            <dl class="facts">
              <dt>Tier</dt>
              <dd>
                <Badge tone="gold">{sentence(body.tier.toLowerCase())}</Badge>{' '}
                <span class="soft small">
                  <Money micro={body.spent_micro} /> spent
                </span>
              </dd>
              {body.next_tier === null ? null : (
                <>
                  <dt>Next tier</dt>
                  <dd>
                    {sentence(body.next_tier.name.toLowerCase())} after {usd(body.next_tier.needs_usd)} more spent
                  </dd>
                </>
              )}
              <dt>Invite</dt>
              <dd class="row">
                <span class="small">
                  {body.referral.referred} bought, {body.referral.visits} visited
                </span>
                <CopyText text={body.referral.link} what="Copy the link" />
              </dd>
            </dl>
            <Rewards loyalty={body} wallet={wallet} onRedeemed={again} />
          </>
        )}
      </Await>
    </section>
  )
}

function Rewards({ loyalty, wallet, onRedeemed }: { loyalty: Loyalty; wallet: Wallet; onRedeemed: () => void }) {
  const index = useNode()
  const [redeemed, setRedeemed] = useState<Redemption>()
  const { busy, problem, attempt } = useAttempt()
  const take = async (reward: string) => {
    await attempt(async () => {
      const { redeem } = await import('../../wallet/sign-and-pay.ts')
      setRedeemed(await redeem(index, wallet, reward))
      onRedeemed()
    })
  }
  return (
    <div class="stack tight">
      <h3>Redeem</h3>
      <ul class="switches">
        {loyalty.redeemable.map(({ reward, what, points, calls }) => (
          <li key={reward}>
            <span>
              {capital(what)} <span class="source">{count(Number(points))} points</span>
            </span>
            <button type="button" class="button small" disabled={busy || calls === 0} onClick={() => take(reward)}>
              Redeem {reward.replace('_', ' ')}
            </button>
          </li>
        ))}
      </ul>
      {redeemed === undefined ? null : (
        <Notice tone="good">
          <strong>
            A pass for {redeemed.pass.calls} call, until {timeText(redeemed.pass.expires_at)}
          </strong>
          {redeemed.pass.token === null ? null : (
            <p class="row">
              <code>{redeemed.pass.token.slice(0, 14)}…</code> <CopyButton text={redeemed.pass.token} what="pass" />
            </p>
          )}
        </Notice>
      )}
      <Problem problem={problem} />
    </div>
  )
}
