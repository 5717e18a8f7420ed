import type { MatrixAnswer } from '@assay/sdk'
import type { Exchange } from '../../node/ask.ts'
import { count } from '../../ui/format.ts'
import { Age, Badge, Scroll, Synthetic } from '../../ui/parts.tsx'
import { Signed } from '../../ui/signed.tsx'
import { Hallmarks } from '../../wallet/hallmarks.tsx'
import type { Bought } from '../../wallet/order.ts'
import { HeatTable } from './heat-table.tsx'
import type { Column } from './types.ts'

type Props = {
  title: string
  columns: readonly Column[]
  answer: MatrixAnswer
  exchange?: Exchange
  bought?: Bought
  /** The same feed in the other tier, to show what moved. */
  other: MatrixAnswer | undefined
  onOpen: (symbol: string) => void
}

export function FeedPane({ title, columns, answer, exchange, bought, other, onOpen }: Props) {
  return (
    <section class="sheet pane" aria-label={title}>
      <header>
        <h3>{title}</h3>
        <Badge tone={answer.stale ? 'bad' : 'good'}>
          {answer.stale ? 'stale, known ' : 'known '}
          <Age at={answer.available_at} />
        </Badge>
        <Synthetic of={answer.synthetic} />
        {exchange === undefined ? null : <Signed exchange={exchange} />}
      </header>
      {bought === undefined ? null : (
        <Hallmarks bought={bought} fileName={`evidence-${answer.feed}-${answer.tier}.json`} />
      )}
      {answer.data.length === 0 ? (
        <p class="soft">No row fits.</p>
      ) : (
        <Scroll label={`${title}: ranked symbols`}>
          <HeatTable rows={answer.data} columns={columns} other={other?.data} onOpen={onOpen} />
        </Scroll>
      )}
      <p class="small soft">
        First {answer.data.length} of {count(answer.row_count)} rows, ranked by {answer.ranked_by}, method{' '}
        {answer.method}. {answer.disclaimer}
      </p>
    </section>
  )
}
