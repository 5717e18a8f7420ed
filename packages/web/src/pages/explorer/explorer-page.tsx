import type { AnswerOf } from '@assay/sdk'
import { useState } from 'preact/hooks'
import type { PageProps } from '../../app/pages.ts'
import { go, linkTo } from '../../app/route.ts'
import { ask } from '../../node/ask.ts'
import { useNode } from '../../node/context.ts'
import { networkName, offers } from '../../node/node-index.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { count, shortHex } from '../../ui/format.ts'
import { Age, Await, Badge, Heads, Hex, Notice, PageHead, Scroll } from '../../ui/parts.tsx'
import { AttestationView } from './attestation-view.tsx'
import type { LogEntry } from './read-log.ts'

/** What this node attested, for anybody: no wallet, every entry with a link, every check made in this browser. */
export function ExplorerPage({ route: { rest } }: PageProps) {
  const index = useNode()
  const [id] = rest
  const open = offers(index, '/v1/log')
  return (
    <>
      <PageHead title={id === undefined ? 'Explorer' : 'Attestation'}>
        <p class="lead">
          Attestations of citations and claims, in a log that can only grow. Anybody can read and check it; sources are
          on <a href={linkTo('sources')}>their own page</a>.
        </p>
        {id === undefined ? null : (
          <p>
            <a href={linkTo('explorer')}>All entries</a>
          </p>
        )}
      </PageHead>
      {open ? null : <Notice>This node keeps no log.</Notice>}
      {open ? <Find /> : null}
      {open && id === undefined ? <Log /> : null}
      {open && id !== undefined ? <AttestationView key={id} id={id} /> : null}
    </>
  )
}

function Find() {
  const [id, setId] = useState('')
  return (
    <form
      class="ask"
      onSubmit={(event) => {
        event.preventDefault()
        if (id.trim() !== '') go('explorer', [id.trim()])
      }}
    >
      <input
        aria-label="Id of an attestation"
        placeholder="att_… or clm_…"
        value={id}
        onInput={(event) => setId(event.currentTarget.value)}
      />
      <button type="submit" class="button">
        Open
      </button>
    </form>
  )
}

const shownMax = 50
/** Citations are few among the entries of a busy market; 1,024 entries are searched for them. */
const tilesMax = 4

async function readLog(origin: string, all: boolean, signal: AbortSignal) {
  const log = (await ask<AnswerOf<'log.describe'>>(`${origin}/v1/log`, { signal })).body
  const { attestationId, lastTiles, readEntries, readHead } = await import('./read-log.ts')
  const text = await (await fetch(`${origin}/v1/log/checkpoint`, { signal })).text()
  const head = await readHead(text, log.keys, log.witnesses)
  const tiles = await Promise.all(
    lastTiles(head.size, all ? 1 : tilesMax).map(async ({ path, first }) => {
      const answer = await fetch(`${origin}/v1/log/${path}`, { signal })
      return answer.ok ? readEntries(new Uint8Array(await answer.arrayBuffer()), first) : []
    }),
  )
  const entries = tiles
    .flat()
    .map((entry) => ({ ...entry, id: attestationId(entry) }))
    .filter(({ id }) => all || id !== undefined)
  return { log, head, entries: entries.slice(0, shownMax) }
}

function Log() {
  const index = useNode()
  const [all, setAll] = useState(false)
  const [read, again] = useAnswer(all ? 'log' : 'attestations', (signal) => readLog(index.api_url, all, signal))
  return (
    <Await of={read} what="Reading the log" again={again}>
      {({ log, head, entries }) => (
        <>
          <section class="sheet" aria-labelledby="head">
            <header>
              <h2 id="head">{count(head.size)} entries</h2>
              <Badge tone={head.signed ? 'good' : 'bad'}>{head.signed ? 'tree head verified' : 'not verified'}</Badge>
              {log.state === 'open' ? null : <Badge tone="bad">stopped</Badge>}
            </header>
            <dl class="facts">
              <dt>Log</dt>
              <dd class="mono">{log.origin}</dd>
              <dt>Root</dt>
              <dd>
                <Hex value={head.root} what="root" />
              </dd>
              {head.witnesses.map(({ name, at }) => [
                <dt key={name}>Witness {name}</dt>,
                <dd key={`${name} signed`}>{at === null ? 'has not signed this head yet' : <Age at={at} />}</dd>,
              ])}
              {log.anchors.slice(0, 3).map(({ network, size, transaction }) => [
                <dt key={`${network} ${size}`}>Anchored at {size}</dt>,
                <dd key={`${network} ${size} transaction`}>
                  {networkName(index, network)}{' '}
                  {transaction === null ? 'not sent yet' : <Hex value={transaction} what="transaction" />}
                </dd>,
              ])}
            </dl>
          </section>
          <section class="sheet" aria-labelledby="entries">
            <header>
              <h2 id="entries">{all ? 'Newest entries' : 'Newest citations and claims'}</h2>
              <label class="row small">
                <input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />
                Also demand and index entries
              </label>
            </header>
            {entries.length === 0 ? (
              <p class="soft">
                None among the newest entries of the log. <a href={linkTo('search')}>Search for a source and cite it</a>
                , and it is here within a minute.
              </p>
            ) : (
              <Entries entries={entries} />
            )}
          </section>
        </>
      )}
    </Await>
  )
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')

function Entries({ entries }: { entries: readonly (LogEntry & { id: string | undefined })[] }) {
  return (
    <Scroll label="Newest entries of the log">
      <table>
        <Heads titles={['Entry', 'Attestation', 'About', 'Agent']} right={['Entry']} />
        <tbody>
          {entries.map(({ index, id, record, hash }) => (
            <tr key={index}>
              <td class="right">{count(index)}</td>
              <td>
                {id === undefined ? (
                  <span class="mono soft">{text(record?.id) || shortHex(hash)}</span>
                ) : (
                  <a class="mono cut" href={linkTo('explorer', [id])}>
                    {id}
                  </a>
                )}
              </td>
              <td>
                <bdi>{text(record?.source_url) || text(record?.type)}</bdi>
              </td>
              <td class="mono">{shortHex(text(record?.agent_wallet))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
