import { fieldProblem } from '@assay/till/kernel/problem'
import type { Unavailable } from '../../http/index.ts'
import type { TradeDeps } from './trade-routes.ts'

export const bodyMissing = () => fieldProblem('body', 'is missing')

/** A series is listed on an index that has figures; without any there is nothing to buy or to write. */
export function withoutSeries({ board, since }: Pick<TradeDeps, 'board' | 'since'>): Unavailable | undefined {
  const trading = board.isTrading()
  const sinceMs = since('options', !trading)
  return trading
    ? undefined
    : { why: 'no_index', detail: 'No series is traded: no index has enough published figures.', sinceMs }
}
