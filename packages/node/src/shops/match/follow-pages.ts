import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Database } from '@assay/till/store/database'
import { type PageChange, pageStoredChannel, readPageChanges } from '../sources/pages/index.ts'
import type { MatchEngine } from './match-engine.ts'
import { datedMs } from './rank-pages.ts'
import type { IndexedDoc } from './segment.ts'

export type FollowDeps = { database: Database; clock: Clock; log: Log }

export type Following = {
  /** Everything that was stored before the start is in the index. */
  caughtUp: Promise<void>
  stop(): Promise<void>
}

const batchSize = 500
/** A wake-up may get lost; then this is how late a page comes into the index. */
const pollMs = 5_000
const dayMs = 86_400_000
const awake = Symbol('awake')

/** Keeps an index at the state of the database, in every process by itself. */
export async function followPages(deps: FollowDeps, engine: MatchEngine): Promise<Following> {
  const stopping = new AbortController()
  let wake = () => {}
  const stopListening = await deps.database.listen(
    pageStoredChannel,
    () => wake(),
    () => wake(),
  )
  const position = { seq: BigInt(await engine.indexedTo()), scoredTo: new Date(0) }
  let finishFirst = () => {}
  const caughtUp = new Promise<void>((resolve) => {
    finishFirst = resolve
  })
  const running = (async () => {
    while (!stopping.signal.aborted) {
      try {
        if (await isBehind(deps, position)) await catchUp(deps, engine, position, stopping.signal)
        finishFirst()
      } catch (error) {
        if (!stopping.signal.aborted)
          deps.log.warn({ error: String(error) }, 'the match index could not be brought up to date')
      }
      // Ended by a wake-up and not left to run out: many pages come in the time of one sleep.
      const asleep = new AbortController()
      wake = () => asleep.abort(awake)
      if (!stopping.signal.aborted) await deps.clock.sleep(pollMs, asleep.signal).catch(() => {})
    }
    finishFirst()
  })()
  return {
    caughtUp,
    stop: async () => {
      stopping.abort(new Error('the match index closes'))
      wake()
      await stopListening()
      await running
    },
  }
}

type Position = { seq: bigint; scoredTo: Date }

/** One cheap question while nothing happens. A number that was drawn and not yet used counts as news. */
async function isBehind({ database }: FollowDeps, { seq, scoredTo }: Position): Promise<boolean> {
  const { rows } = await database.query<{ seq: bigint; scored: Date | null }>({
    name: 'match_news',
    text: `select coalesce(pg_sequence_last_value('page_change'), 0) as seq, (select max(scored_at) from source) as scored`,
  })
  const [now] = rows
  return now === undefined || now.seq > seq || (now.scored?.getTime() ?? 0) > scoredTo.getTime()
}

async function catchUp(
  deps: FollowDeps,
  engine: MatchEngine,
  position: Position,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const { changes, nextSeq } = await readPageChanges(deps.database, position.seq, batchSize)
    await engine.add(changes.flatMap(docOf))
    position.seq = nextSeq
    if (changes.length < batchSize) break
  }
  const { rows } = await deps.database.query<{ domain: string; cite_score: number | null; scored_at: Date }>(
    'select domain, cite_score, scored_at from source where scored_at >= $1 order by scored_at',
    [position.scoredTo],
  )
  await engine.setScores(rows.map((row) => [row.domain, row.cite_score ?? 0] as const))
  position.scoredTo = rows.at(-1)?.scored_at ?? position.scoredTo
}

/** A page that is gone leaves the index by itself: its number is found in no row any more. */
function docOf({ seq, page }: PageChange): IndexedDoc[] {
  if (!page) return []
  const dated = datedMs(page)
  return [
    {
      pageId: Number(seq),
      domain: page.domain,
      title: page.title,
      text: page.text,
      language: (page.language ?? '').toLowerCase().split('-')[0] ?? '',
      licence: page.licences.find(({ name }) => name !== undefined)?.name ?? '',
      type: page.type,
      day: Math.floor((Number.isFinite(dated) ? dated : page.fetchedAt.getTime()) / dayMs),
    },
  ]
}
