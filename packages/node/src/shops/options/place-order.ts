import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import { formatUsd } from '@assay/protocol/money'
import type { PreparedAnswer } from '@assay/till/internal'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { jsonAnswer } from '../../http/index.ts'
import type { OptionDeps } from './deps.ts'
import { requireEligible } from './eligibility.ts'
import type { Placing } from './place-in-book.ts'
import { collateralOf, parsePremium, requireTraded } from './write-contracts.ts'

export type OrderBody = { symbol: string; limit_usd: string; quantity?: number; immediate?: boolean }

/** An order to buy at a limit: its whole premium is paid before it enters the book. */
export async function prepareOrder(
  deps: OptionDeps,
  body: OrderBody,
  call: { payer: Address },
): Promise<PreparedAnswer> {
  await deps.requireTrading()
  await requireEligible(deps, call.payer, 'buy')
  const limitMicro = parsePremium(body.limit_usd, 'limit_usd')
  const series = await requireTraded(deps, body.symbol)
  const quantity = body.quantity ?? 1
  // A limit of all that a contract can pay would be a gift.
  collateralOf(series, limitMicro, quantity)
  const immediate = body.immediate ?? false
  const order = deps.ids.next('ord')
  return {
    answer: jsonAnswer({
      order_id: order,
      symbol: series.symbol,
      wallet: checksumAddress(call.payer),
      quantity,
      limit_micro: limitMicro.toString(),
      limit_usd: formatUsd(limitMicro),
      paid_micro: (limitMicro * BigInt(quantity)).toString(),
      immediate,
      last_trade_at: toRfc3339(series.lastTradeAtMs),
      state: 'pending',
      note: 'The order enters the book once its money is final. What is not bought is paid back.',
      ...(series.synthetic ? { synthetic: true } : {}),
    }),
    reservation: {
      order,
      symbol: series.symbol,
      price: limitMicro.toString(),
      quantity,
      immediate,
    } satisfies Json & Placing,
  }
}
