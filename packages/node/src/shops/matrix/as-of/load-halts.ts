import type { HaltEvent } from './as-of-view.ts'
import type { AsOfDraft } from './load-view.ts'

const daysShown = 10

/** Halts of the last days. Later files repeat earlier halts with their resumption filled in: the newest word counts. */
export async function loadHalts(draft: AsOfDraft): Promise<void> {
  const events = new Map<string, HaltEvent>()
  const since = draft.knownAtMs - daysShown * 86_400_000
  for (const file of [...draft.known('nasdaq-halts')].reverse()) {
    const rows = await draft.fileCache.rows(draft.sql, 'halts', file)
    const origin = draft.originOf(file)
    const number = (name: string, row: number) => (rows.numbers[name] as Float64Array)[row] as number
    const orNull = (value: number) => (Number.isNaN(value) ? null : value)
    for (let i = 0; i < rows.count; i += 1) {
      const symbol = draft.dense[rows.ids[i] as number] as number
      const haltedAtMs = number('halted_at_ms', i)
      if (symbol < 0 || haltedAtMs < since) continue
      const reason = rows.texts.reason?.[i] ?? ''
      events.set(`${symbol} ${haltedAtMs} ${reason}`, {
        symbol,
        reason,
        market: rows.texts.market?.[i] ?? null,
        haltedAtMs,
        quoteAtMs: orNull(number('quote_at_ms', i)),
        tradeAtMs: orNull(number('trade_at_ms', i)),
        pausePrice: orNull(number('pause_price', i)),
        origin,
      })
    }
  }
  draft.halts.push(
    ...[...events.values()].sort(
      (a, b) => b.haltedAtMs - a.haltedAtMs || a.symbol - b.symbol || (a.reason < b.reason ? -1 : 1),
    ),
  )
}
