import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import { formatUsd, type Micro, parseUsd } from '@assay/protocol/money'
import type { PreparedAnswer } from '@assay/till/internal'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { jsonAnswer } from '../../http/index.ts'
import type { OptionDeps } from './deps.ts'
import { isInBand, premiumHighestMicro, premiumLowestMicro } from './domain/contract-terms.ts'
import { requireEligible } from './eligibility.ts'
import type { Placing } from './place-in-book.ts'
import { optionProblems } from './problems.ts'
import { findSeries, isTraded, type Series } from './series-store.ts'

export type WriteBody = { symbol: string; premium_usd: string; quantity?: number; immediate?: boolean }

export function parsePremium(text: string, field = 'premium_usd'): Micro {
  const micro = parseUsd(text)
  if (micro === undefined || !isInBand(micro))
    throw new Problem(optionProblems.premium_out_of_band, {
      detail: `${field} must be decimal USD from 50 to 120.`,
      extra: { lowest_usd: formatUsd(premiumLowestMicro), highest_usd: formatUsd(premiumHighestMicro) },
    })
  return micro
}

/** The most that can be owed, less the premium that the buyer will add: full collateral from the first moment. */
export function collateralOf(series: Pick<Series, 'capMicro'>, premiumMicro: Micro, quantity: number): Micro {
  if (premiumMicro >= series.capMicro)
    throw new Problem(optionProblems.premium_out_of_band, {
      detail: 'The premium would be more than the contract can ever pay.',
    })
  return (series.capMicro - premiumMicro) * BigInt(quantity)
}

export async function prepareWrite(
  deps: OptionDeps,
  body: WriteBody,
  call: { payer: Address },
): Promise<PreparedAnswer> {
  await deps.requireTrading()
  await requireEligible(deps, call.payer, 'write')
  const premiumMicro = parsePremium(body.premium_usd)
  const series = await requireTraded(deps, body.symbol)
  const quantity = body.quantity ?? 1
  const order = deps.ids.next('ofr')
  return {
    answer: jsonAnswer({
      offer_id: order,
      symbol: series.symbol,
      wallet: checksumAddress(call.payer),
      quantity,
      premium_micro: premiumMicro.toString(),
      premium_usd: formatUsd(premiumMicro),
      collateral_micro: collateralOf(series, premiumMicro, quantity).toString(),
      most_micro: (series.capMicro * BigInt(quantity)).toString(),
      expires_at: toRfc3339(series.expiresAtMs),
      state: 'pending',
      note: 'The offer enters the book once its money is final. Unsold contracts can be withdrawn.',
      ...(series.synthetic ? { synthetic: true } : {}),
    }),
    reservation: {
      order,
      symbol: series.symbol,
      price: premiumMicro.toString(),
      quantity,
      immediate: body.immediate ?? false,
    } satisfies Json & Placing,
  }
}

export async function requireTraded(deps: Pick<OptionDeps, 'database' | 'clock'>, symbol: string): Promise<Series> {
  const series = await findSeries(deps.database, symbol)
  if (!series) throw new Problem(optionProblems.series_unknown)
  if (!isTraded(series, deps.clock.nowMs())) throw new Problem(optionProblems.series_closed)
  return series
}
