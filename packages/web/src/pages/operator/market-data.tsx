import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { Await, Badge, Heads, Scroll, type Tone } from '../../ui/parts.tsx'

type Row = {
  source: string
  title: string
  licence: string
  may_be_sold: boolean
  fetched: boolean
  first: string | null
  last: string | null
  age_seconds: number | null
  wanted: number
  present: number
  stale: boolean
  fix: string | null
}

/** What is held of each source against what the feeds want, and what to do about the rest. */
export function MarketData() {
  const index = useNode()
  const [coverage] = useAnswer(offers(index, '/matrix') ? 'coverage' : null, (signal) =>
    ask<{ coverage: Row[] }>(`${index.base_url}/matrix`, { signal }),
  )
  if (!offers(index, '/matrix')) return null
  return (
    <section class="sheet" aria-labelledby="market-data">
      <h2 id="market-data">Market data</h2>
      <Await of={coverage} what="Reading what is held">
        {({ body }) => <CoverageTable rows={body.coverage} />}
      </Await>
    </section>
  )
}

/** Red is for what somebody has to do; what is still being read is only not there yet. */
export function heldTone({ present, wanted, stale, fix }: Pick<Row, 'present' | 'wanted' | 'stale' | 'fix'>): Tone {
  if (stale || fix !== null) return 'bad'
  return present === wanted ? 'good' : 'warn'
}

const days = (seconds: number) => `${(seconds / 86_400).toFixed(1)} days`

function CoverageTable({ rows }: { rows: Row[] }) {
  return (
    <Scroll label="Coverage of each source">
      <table class="coverage">
        <Heads titles={['Source', 'First', 'Last', 'Held', 'Age', 'Licence', 'To do']} right={['Held', 'Age']} />
        <tbody>
          {rows.map((row) => (
            <tr key={row.source}>
              <th scope="row" title={row.title}>
                {row.source}
              </th>
              <td class="day">{row.first ?? '–'}</td>
              <td class="day">{row.last ?? '–'}</td>
              <td class="right">
                <Badge tone={heldTone(row)}>
                  {row.present} of {row.wanted}
                </Badge>
              </td>
              <td class="right">{row.age_seconds === null ? '–' : days(row.age_seconds)}</td>
              <td>
                {row.licence}
                {row.may_be_sold ? '' : ' (not sold)'}
              </td>
              <td>{row.fix?.replaceAll('`', '')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
