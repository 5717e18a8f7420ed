import type { AnswerContent } from '@assay/till'
import { Problem } from '@assay/till/kernel/problem'
import { addDays, isIsoDate } from '../calendar/dates.ts'
import { easternDate } from '../calendar/eastern-time.ts'
import type { FeedId } from '../feeds/feed.ts'
import type { Variant } from '../licences/gate.ts'
import type { MatrixDeps } from '../matrix-deps.ts'
import { matrixProblems } from '../problems.ts'
import type { ScoreMethodName } from '../score/method.ts'
import { isSnapshot } from '../snapshots/keeper.ts'
import { pageOf, readSymbols, snapshotOfCursor } from '../snapshots/page.ts'
import { type Head, renderCsv, renderJson, renderNdjson, type Tier } from '../snapshots/render.ts'
import type { NoSnapshot, Snapshot } from '../snapshots/snapshot.ts'
import { envelopeOf } from './envelope.ts'
import { readHistory } from './read-history.ts'

export type PullQuery = {
  symbol?: string
  limit: number
  min_score?: number
  sort?: string
  filter?: string
  method?: ScoreMethodName
  cursor?: string
  as_of?: string
  history?: number
  stream?: '1'
}

/** One pull: the right snapshot, the rows asked for, in the form asked for. */
export async function answerPull(
  deps: MatrixDeps,
  input: { feed: FeedId; tier: Tier; query: PullQuery; representation: string },
): Promise<AnswerContent & { body: Uint8Array | string }> {
  const { query, tier } = input
  const isNewest = query.as_of === undefined && query.history === undefined && query.method === undefined
  const key = isNewest ? memoKey(deps, input) : undefined
  const known = key && deps.memo.get(key)
  if (known) return known
  const snapshot = await snapshotFor(deps, input.feed, tier, query)
  const symbols = query.symbol === undefined ? undefined : readSymbols(query.symbol)
  const page = pageOf(snapshot, {
    limit: query.limit,
    ...(symbols ? { symbols } : {}),
    ...(query.min_score === undefined ? {} : { minScore: query.min_score }),
    ...(query.cursor === undefined ? {} : { cursor: query.cursor }),
    ...(query.sort === undefined ? {} : { sort: query.sort }),
    ...(query.filter === undefined ? {} : { filter: query.filter }),
    vip: tier === 'vip',
  })
  const { facts, text } = envelopeOf(snapshot, {
    tier,
    nowMs: deps.clock.nowMs(),
    fileCache: deps.fileCache,
    pointInTime: query.as_of !== undefined,
    ...(tier === 'delayed' ? { delayMinutes: deps.delayMs / 60_000 } : {}),
  })
  const history =
    query.history === undefined
      ? ''
      : `,"history":${JSON.stringify(await historyFor(deps, input.feed, tier, query, symbols))}`
  const head = { facts, text: `${text},"unranked":${JSON.stringify(page.unranked)}${history}` }
  const content = await render(snapshot, page, tier, head, input.representation)
  if (key) deps.memo.put(key, content)
  return content
}

function memoKey(
  deps: MatrixDeps,
  { feed, tier, query, representation }: Parameters<typeof answerPull>[1],
): string | undefined {
  const snapshot = query.cursor === undefined ? deps.keeper.current(feed, tier) : undefined
  if (!snapshot || !isSnapshot(snapshot)) return undefined
  // Staleness is told by the minute.
  const minute = Math.floor(deps.clock.nowMs() / 60_000)
  return `${snapshot.sha256} ${tier} ${representation} ${minute} ${query.limit} ${query.min_score ?? ''} ${query.symbol ?? ''} ${query.sort ?? ''} ${query.filter ?? ''}`
}

export const parquetType = 'application/vnd.apache.parquet'

async function render(
  snapshot: Snapshot,
  page: ReturnType<typeof pageOf>,
  tier: Tier,
  head: Head,
  representation: string,
): Promise<AnswerContent & { body: Uint8Array | string }> {
  if (representation === parquetType) {
    const { renderParquet } = await import('../snapshots/render-parquet.ts')
    return { status: 200, contentType: parquetType, body: await renderParquet(snapshot, page, tier, head) }
  }
  const body =
    representation === 'text/csv'
      ? renderCsv(snapshot, page, tier, head)
      : representation === 'application/x-ndjson'
        ? renderNdjson(snapshot, page, tier, head)
        : renderJson(snapshot, page, tier, head)
  const contentType = representation === 'text/csv' ? 'text/csv; charset=utf-8' : representation
  return { status: 200, contentType, body }
}

async function snapshotFor(deps: MatrixDeps, feed: FeedId, tier: Tier, query: PullQuery): Promise<Snapshot> {
  const wanted = query.cursor === undefined ? undefined : snapshotOfCursor(query.cursor)
  const held = wanted === undefined ? undefined : deps.keeper.recent(wanted)
  if (held && held.manifest.feed === feed && mayContinue(deps, held, tier)) return held
  const found =
    query.as_of === undefined && query.method === undefined
      ? deps.keeper.current(feed, tier)
      : await deps.keeper.at(
          feed,
          variantOf(tier),
          query.as_of === undefined ? deps.clock.nowMs() : momentOf(query.as_of),
          query.method,
        )
  if (isSnapshot(found)) return found
  throw nothingToShow(found, feed)
}

/** The cursor of a dearer or fresher snapshot must not open it on a cheaper route. */
function mayContinue(deps: MatrixDeps, held: Snapshot, tier: Tier): boolean {
  if (tier !== 'delayed')
    return held.manifest.inputs.every((input) => deps.gate.may(input.source as never, input.synthetic, 'paid'))
  return Date.parse(held.manifest.available_at) <= deps.clock.nowMs() - deps.delayMs
}

export const variantOf = (tier: Tier): Variant => (tier === 'delayed' ? 'free' : 'paid')

function nothingToShow(found: NoSnapshot, feed: FeedId): Problem {
  if (found.status === 'not_licensed')
    return new Problem(matrixProblems.licence_required, {
      detail: `No source of ${feed} may be shown or sold here.`,
      extra: { left_out: found.leftOut },
    })
  return new Problem('not_ready', { detail: `No data for ${feed} have come in yet.`, retryAfterSeconds: 30 })
}

/** A moment, or a day, which means all that was known by its end. */
export function momentOf(text: string): number {
  return isIsoDate(text) ? Date.parse(`${text}T23:59:59.999Z`) : Date.parse(text)
}

async function historyFor(
  deps: MatrixDeps,
  feed: FeedId,
  tier: Tier,
  query: PullQuery,
  symbols: readonly string[] | undefined,
) {
  const [symbol] = symbols ?? []
  if (symbol === undefined || symbols?.length !== 1)
    throw new Problem('input_invalid', {
      detail: 'query.history needs exactly one symbol',
      extra: { problems: [{ field: 'query.history', problem: 'needs exactly one symbol' }] },
    })
  const days = query.history ?? 60
  const knownAtMs = query.as_of === undefined ? deps.clock.nowMs() : momentOf(query.as_of)
  const sinceDate = addDays(easternDate(knownAtMs), -Math.ceil(days * 1.5) - 35)
  return readHistory(
    { sql: deps.database, fileCache: deps.fileCache, gate: deps.gate },
    { feed, symbol, days, knownAtMs, sinceDate },
    variantOf(tier),
  )
}
