import type { SourceSummary } from '@assay/sdk'
import { useState } from 'preact/hooks'
import type { PageProps } from '../../app/pages.ts'
import { linkTo } from '../../app/route.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { Age, Await, Badge, Heads, Notice, PageHead, Scroll, Synthetic } from '../../ui/parts.tsx'
import { RegisterSource } from './register-source.tsx'
import { ScoreRing } from './score-ring.tsx'
import { SourceDetail } from './source-detail.tsx'
import { stateTone } from './source-state.ts'

/** Who can be cited, with what score, and how to become one of them. */
export function SourcesPage({ route }: PageProps) {
  const index = useNode()
  const [first] = route.rest
  if (!offers(index, '/v1/sources'))
    return (
      <PageHead title="Sources">
        <Notice>The citation marketplace is not open on this node.</Notice>
      </PageHead>
    )
  if (first === 'register') return <RegisterSource domain={route.rest[1]} />
  return first === undefined ? <SourceList /> : <SourceDetail domain={first} />
}

function SourceList() {
  const index = useNode()
  const [cursors, setCursors] = useState<readonly string[]>([])
  const cursor = cursors.at(-1)
  const url = `${index.api_url}/v1/sources?limit=50${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
  const [sources, again] = useAnswer(url, (signal) =>
    ask<{ data: SourceSummary[]; next_cursor: string | null }>(url, { signal }),
  )
  return (
    <>
      <PageHead title="Sources">
        <p class="lead">
          Sites whose owners have registered. Each has a CiteScore with the evidence behind it; citing one pays its
          creator.
        </p>
        <div>
          <a class="button main" href={linkTo('sources', ['register'])}>
            Register your site, free
          </a>
        </div>
      </PageHead>
      <Await of={sources} what="Reading the sources" again={again}>
        {({ body }) =>
          body.data.length === 0 ? (
            <Notice>No source is registered yet. Yours could be the first.</Notice>
          ) : (
            <div class="sheet">
              <SourceTable sources={body.data} />
              {cursor === undefined && body.next_cursor === null ? null : (
                <p class="row">
                  <button
                    type="button"
                    class="button small"
                    disabled={cursor === undefined}
                    onClick={() => setCursors(cursors.slice(0, -1))}
                  >
                    Previous
                  </button>
                  <button
                    type="button"
                    class="button small"
                    disabled={body.next_cursor === null}
                    onClick={() => body.next_cursor !== null && setCursors([...cursors, body.next_cursor])}
                  >
                    Next
                  </button>
                </p>
              )}
            </div>
          )
        }
      </Await>
    </>
  )
}

function SourceTable({ sources }: { sources: readonly SourceSummary[] }) {
  return (
    <Scroll label="Registered sources">
      <table class="source-table">
        <Heads titles={['Score', 'Source', 'State', 'Confidence', 'Updated']} right={['Confidence']} />
        <tbody>
          {sources.map((source) => (
            <tr key={source.domain}>
              <td>
                <ScoreRing score={source.cite_score} />
              </td>
              <th scope="row">
                <a href={linkTo('sources', [source.domain])}>{source.display}</a> <Synthetic of={source.synthetic} />
              </th>
              <td>
                <Badge tone={stateTone(source.state)}>{source.state}</Badge>
                <span class="source">{source.state_reason}</span>
              </td>
              <td class="right">{source.confidence === null ? '–' : `${Math.round(source.confidence * 100)} %`}</td>
              <td>
                <Age at={source.updated_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
