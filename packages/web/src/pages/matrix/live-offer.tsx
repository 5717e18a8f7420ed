import type { MatrixAnswer, MatrixIndexEntry } from '@assay/sdk'
import { useStore } from '../../app/store.ts'
import { useNode } from '../../node/context.ts'
import { usd } from '../../ui/format.ts'
import { Badge } from '../../ui/parts.tsx'
import { BuyButton } from '../../wallet/buy-button.tsx'
import { bearerOf, subscriptionTokens } from '../../wallet/tokens.ts'
import { wallet as walletStore } from '../../wallet/wallet-store.ts'
import type { Pulled } from './types.ts'

type Props = { feed: MatrixIndexEntry; limit: number; filter: string; onPulled: (pulled: Pulled) => void }

/** One pull of the newest snapshot, paid for or covered by a subscription. */
export function LiveOffer({ feed, limit, filter, onPulled }: Props) {
  const index = useNode()
  const wallet = useStore(walletStore)
  useStore(subscriptionTokens)
  const headers = bearerOf(wallet?.address)
  const covered = Object.keys(headers).length > 0
  const price = feed.prices.live?.usd ?? '0'
  return (
    <section class="sheet pane offer" aria-labelledby="live-offer">
      <h3 id="live-offer">Live</h3>
      <p>
        The newest snapshot, without the delay of the free tier, with everything that became known since. It is shown
        here with the delayed one, and each row says how many ranks it moved.
      </p>
      <p class="row">
        <BuyButton
          order={{
            what: `Live pull of ${feed.id}`,
            url: `${index.base_url}/matrix/${feed.id}/live?limit=${limit}${filter}`,
            headers,
          }}
          label={covered ? 'Pull live with the subscription' : `Pull live for ${usd(price)}`}
          disabled={!feed.licence.sold}
          onBought={(bought) => onPulled({ answer: bought.body as MatrixAnswer, bought })}
        />
        {feed.licence.sold ? null : <Badge tone="warn">its sources may not be sold</Badge>}
      </p>
      <p class="small soft">
        {feed.freshness.available_at === null
          ? 'No data yet. '
          : `Newest data ${feed.freshness.available_at.slice(0, 16).replace('T', ' ')} UTC. `}
        Signed with the hash of the snapshot, so that two buyers can compare.
      </p>
    </section>
  )
}
