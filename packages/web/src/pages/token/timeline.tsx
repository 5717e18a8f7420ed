import { useState } from 'preact/hooks'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { explorerUrl } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { shortHex } from '../../ui/format.ts'
import { Await, Badge } from '../../ui/parts.tsx'

export type TimelineEvent = {
  block_number: string
  text: string
  transaction?: string
  /** Powers that it bears on. */
  concerns?: string[]
}

type Changes = { data: { data: TimelineEvent }[]; next_cursor: string | null }

const shownAtFirst = 20

/** What happened to the control of a token, the latest first. */
type TimelineProps = { events: readonly TimelineEvent[]; label: string; network: string }

export function Timeline({ events, label, network }: TimelineProps) {
  const index = useNode()
  const [all, setAll] = useState(false)
  const latest = [...events].reverse()
  const shown = all ? latest : latest.slice(0, shownAtFirst)
  if (events.length === 0) return <p class="soft">Nothing has changed since the creation.</p>
  return (
    <>
      <ol class="timeline small" aria-label={label}>
        {shown.map((event, position) => (
          <li key={`${event.block_number} ${position}`} class={(event.concerns ?? []).length > 0 ? 'strong' : ''}>
            <span class="soft">
              block {event.block_number}
              {event.transaction === undefined ? null : (
                <>
                  {', '}
                  <Transaction hash={event.transaction} href={explorerUrl(index, network, 'tx', event.transaction)} />
                </>
              )}
            </span>{' '}
            {event.text}{' '}
            {(event.concerns ?? []).map((power) => (
              <Badge key={power}>{power.replace('_', ' ')}</Badge>
            ))}
          </li>
        ))}
      </ol>
      {shown.length === latest.length ? null : (
        <button type="button" class="button small" onClick={() => setAll(true)}>
          Show all {latest.length}
        </button>
      )}
    </>
  )
}

function Transaction({ hash, href }: { hash: string; href: string | undefined }) {
  if (href === undefined) return <span title={hash}>{shortHex(hash)}</span>
  return (
    <a href={href} title={hash} target="_blank" rel="noopener noreferrer">
      {shortHex(hash)}
    </a>
  )
}

/** Read again with every check, at no charge. */
type HistoryProps = { address: string; block: string; network: string }

export function ControlHistory({ address, block, network }: HistoryProps) {
  const index = useNode()
  const [changes, again] = useAnswer(`${address} ${block}`, (signal) =>
    ask<Changes>(`${index.base_url}/v1/tokens/${encodeURIComponent(address)}/changes?since=0`, { signal }),
  )
  return (
    <section class="sheet" aria-labelledby="control-history">
      <h2 id="control-history">Control history</h2>
      <Await of={changes} what="Reading the history" again={again}>
        {({ body }) => (
          <>
            <Timeline events={body.data.map(({ data }) => data)} label="Control history" network={network} />
            {body.next_cursor === null ? null : (
              <p class="small soft">There is more: the first {body.data.length} changes are shown.</p>
            )}
          </>
        )}
      </Await>
    </section>
  )
}
