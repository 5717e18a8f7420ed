import type { TokenCheck } from '@assay/sdk'
import { useState } from 'preact/hooks'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { explorerUrl } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { shortHex } from '../../ui/format.ts'
import { Await, Badge, Hex } from '../../ui/parts.tsx'
import { partsOf } from './event-text.ts'

export type TimelineEvent = {
  kind?: string
  block_number: string
  text: string
  transaction?: string
  /** Powers that it bears on. */
  concerns?: string[]
}

type Changes = { data: { data: TimelineEvent }[]; next_cursor: string | null }

const shownAtFirst = 20

type TimelineProps = { events: readonly TimelineEvent[]; label: string; decimals: unknown; network: string }

/** What happened to the control of a token, the latest first. */
export function Timeline({ events, label, decimals, network }: TimelineProps) {
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
            {partsOf(event.text, event.kind, decimals).map((part) =>
              'address' in part ? (
                <Hex value={part.address} href={explorerUrl(index, network, 'address', part.address)} />
              ) : (
                part.text
              ),
            )}{' '}
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
export function ControlHistory({ check: { address, block, network, token } }: { check: TokenCheck }) {
  const index = useNode()
  const [changes, again] = useAnswer(`${address} ${block.number}`, (signal) =>
    ask<Changes>(`${index.base_url}/v1/tokens/${encodeURIComponent(address)}/changes?since=0`, { signal }),
  )
  return (
    <section class="sheet" aria-labelledby="control-history">
      <h2 id="control-history">Control history</h2>
      <Await of={changes} what="Reading the history" again={again}>
        {({ body }) => (
          <>
            <Timeline
              events={body.data.map(({ data }) => data)}
              label="Control history"
              decimals={token.decimals}
              network={network}
            />
            {body.next_cursor === null ? null : (
              <p class="small soft">There is more: the first {body.data.length} changes are shown.</p>
            )}
          </>
        )}
      </Await>
    </section>
  )
}
