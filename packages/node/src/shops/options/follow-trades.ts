import type { JwsPort } from '@assay/till/internal'
import { type Clock, toRfc3339 } from '@assay/till/kernel/clock'
import type { Sql } from '@assay/till/store/database'
import { eventText, signedEvent } from '../../http/index.ts'
import { newestTrade, tradesAfter } from './list-trades.ts'

export type FollowDeps = { database: Sql; clock: Clock; jws: JwsPort; apiUrl: string; stopped: AbortSignal }

const pollEveryMs = 2_000
const aliveEveryMs = 15_000
/** Numbers begin with the second in which they were drawn, and a trade may be committed some seconds later. */
const lateSeconds = 30n
const longBefore = (id: bigint): bigint => ((id >> 31n) - lateSeconds) << 31n

export type Followed = {
  symbol?: string
  after?: bigint
  /** Reads the order book of the series, at the start and after each change. */
  readOrderBook?(): Promise<object | undefined>
}

/** Trades as server-sent events: those after `after`, then what comes, until the reader goes or the node stops. */
export async function* followTrades(deps: FollowDeps, { symbol, after, readOrderBook }: Followed) {
  const begin = after ?? (await newestTrade(deps.database))
  const seen = new Set<bigint>()
  let newest = begin
  let aliveAtMs = deps.clock.monotonicMs()
  let shown = ''
  yield 'retry: 5000\n\n'
  while (!deps.stopped.aborted) {
    const from = longBefore(newest) > begin ? longBefore(newest) : begin
    for (const trade of await tradesAfter(deps.database, { symbol, after: from, without: [...seen] })) {
      const id = BigInt(trade.trade_id)
      seen.add(id)
      if (id > newest) newest = id
      const attributes = {
        id: trade.trade_id,
        source: `${deps.apiUrl}/v1/options/trades`,
        type: 'assay.options.trade.v1',
        subject: trade.symbol,
        time: trade.at,
      }
      yield eventText(trade.trade_id, 'trade', signedEvent(deps.jws, attributes, JSON.stringify(trade)))
    }
    const book = JSON.stringify(await readOrderBook?.()) ?? shown
    if (book !== shown) {
      shown = book
      const time = toRfc3339(deps.clock.nowMs())
      const about = { id: `${symbol} ${time}`, subject: symbol ?? '', time }
      const attributes = { ...about, source: `${deps.apiUrl}/v1/options/trades`, type: 'assay.options.book.v1' }
      // Without an id: a reader who comes back goes on after the last trade.
      yield eventText(null, 'book', signedEvent(deps.jws, attributes, book))
    }
    for (const id of seen) if (id <= longBefore(newest)) seen.delete(id)
    await deps.clock.sleep(pollEveryMs, deps.stopped).catch(() => {})
    if (deps.clock.monotonicMs() - aliveAtMs < aliveEveryMs) continue
    aliveAtMs = deps.clock.monotonicMs()
    yield ': still here\n\n'
  }
}
