import type { MatrixAnswer } from '@assay/sdk'
import type { Exchange } from '../../node/ask.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { count } from '../../ui/format.ts'
import { Age, Badge, Problem, Scroll, Synthetic } from '../../ui/parts.tsx'
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
  /** Order and pages, where asking again costs nothing. */
  paging?: Paging
}

export type Paging = {
  sort: string
  onSort: (column: string) => void
  /** Rows before this page. */
  before: number
  onPrevious: () => void
  onNext: (cursor: string) => void
  onExport: () => Promise<void>
}

export function FeedPane({ title, columns, answer, exchange, bought, other, paging }: Props) {
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
          <HeatTable
            rows={answer.data}
            columns={columns}
            other={other?.data}
            feed={answer.feed}
            {...(paging === undefined ? {} : { order: paging })}
          />
        </Scroll>
      )}
      {paging === undefined ? null : <Pages paging={paging} answer={answer} />}
      <p class="small soft">
        {count(answer.row_count)} rows in the feed, ranked by {answer.ranked_by}, method {answer.method}.{' '}
        {answer.disclaimer}
      </p>
    </section>
  )
}

function Pages({ paging, answer }: { paging: Paging; answer: MatrixAnswer }) {
  const { before, onPrevious, onNext, onExport } = paging
  const { busy, problem, attempt } = useAttempt()
  const next = answer.next_cursor
  return (
    <nav class="row" aria-label="Pages of the feed">
      <button type="button" class="button small" disabled={before === 0} onClick={onPrevious}>
        Previous
      </button>
      <span class="small">
        {answer.data.length === 0 ? 'No rows' : `Rows ${count(before + 1)} to ${count(before + answer.data.length)}`}
      </span>
      <button type="button" class="button small" disabled={next === null} onClick={() => next !== null && onNext(next)}>
        Next
      </button>
      <button
        type="button"
        class="button small"
        disabled={busy || answer.data.length === 0}
        onClick={() => attempt(onExport)}
      >
        Export as CSV
      </button>
      <Problem problem={problem} />
    </nav>
  )
}
