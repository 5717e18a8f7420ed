import { addressText } from '@assay/till/kernel/address-text'
import { z } from 'zod'
import { quoteIdPattern } from './quotes.ts'

export const symbolInput = z
  .string()
  .regex(/^TC-[A-Za-z0-9_-]{1,60}-[CP]$/, 'must be a symbol such as TC-52-20261204-100-C')
export const quantityInput = z.number().int().min(1, 'must be 1 to 10').max(10, 'must be 1 to 10')
const micro = z.string().describe('Micro-USDC.')
const at = z.string()
const immediateInput = z
  .boolean()
  .optional()
  .describe('true: what is not traded on entering the book goes back at once. Default: it waits there.')

export const buyBody = z.strictObject({
  symbol: symbolInput,
  quantity: quantityInput.optional().describe('Contracts; default 1.'),
  quote_id: z.string().regex(quoteIdPattern, 'is not a quote of this node').optional(),
  wallet: addressText.optional().describe('Default and only allowed value: the wallet that pays.'),
})

export const writeBody = z.strictObject({
  symbol: symbolInput,
  premium_usd: z.string().max(20).describe('Asked per contract, from 50 to 120.'),
  quantity: quantityInput.optional(),
  immediate: immediateInput,
})

export const orderBody = z.strictObject({
  symbol: symbolInput,
  limit_usd: z.string().max(20).describe('The most paid for a contract, from 50 to 120.'),
  quantity: quantityInput.optional(),
  immediate: immediateInput,
})

export const orderView = z.strictObject({
  order_id: z.string(),
  symbol: z.string(),
  wallet: z.string(),
  quantity: z.number(),
  limit_micro: micro,
  limit_usd: z.string(),
  paid_micro: micro,
  immediate: z.boolean(),
  last_trade_at: at,
  state: z.literal('pending'),
  note: z.string(),
  synthetic: z.boolean().optional(),
})

export const withdrawBody = z.strictObject({
  offer_id: z.string().regex(/^(?:ofr|ord|opt)_[0-9a-z]{26}$/, 'must be the id of an offer, an order or a position'),
  quantity: z.number().int().min(1).max(10).optional().describe('Default: all that is free.'),
})

export const quoteBody = z.strictObject({ symbol: symbolInput, quantity: quantityInput.optional() })

const synthetic = z.boolean().optional()

export const clusterView = z.strictObject({
  cluster: z.string(),
  name: z.string(),
  parent: z.string().nullable(),
  tier: z.number(),
  source: z.enum(['iab', 'operator']),
  index: z.string().nullable(),
  index_at: at.nullable(),
  agents: z.number().nullable(),
  base_at: at.nullable(),
  base_share_e12: z.string().nullable(),
  volatility: z.number().nullable(),
  series: z.number(),
  synthetic,
})

export const seriesView = z.strictObject({
  symbol: z.string(),
  cluster: z.string(),
  kind: z.enum(['call', 'put']),
  strike: z.number(),
  pays_up_to: z.number().describe('Points of the index beyond the strike at which it pays no more.'),
  size_micro: micro,
  most_micro: micro,
  last_trade_at: at,
  expires_at: at,
  state: z.enum(['trading', 'closed', 'settling', 'ended']),
  premium_micro: micro.nullable(),
  premium_usd: z.string().nullable(),
  buyable: z.boolean(),
  volatility: z.number().describe('Of the model, a year: 0.9 is 90 %.'),
  implied_volatility: z
    .number()
    .nullable()
    .describe('At which the model gives the premium asked now; null where nothing is offered or none does.'),
  greeks: z
    .strictObject({
      delta: z.number().describe('Price of a point of contract size, for one point of the index.'),
      gamma: z.number().describe('Delta, for one point of the index.'),
      vega: z.number().describe('Price, for 1 (100 %) of volatility.'),
      theta: z.number().describe('Price, for one year.'),
    })
    .nullable()
    .describe('By the model at the index of its last pricing; null before the first one.'),
  synthetic,
})

export const seriesDetail = seriesView.extend({
  index: z.string().nullable(),
  index_at: at.nullable(),
  model_micro: micro.nullable(),
  priced_at: at.describe('When the model priced it last.'),
  book: z.array(z.strictObject({ premium_micro: micro, quantity: z.number(), offers: z.number() })),
  bids: z.array(z.strictObject({ premium_micro: micro, quantity: z.number(), orders: z.number() })),
  resales: z
    .array(z.strictObject({ premium_micro: micro, quantity: z.number(), orders: z.number() }))
    .describe('Orders of holders to sell; an order to buy at this limit takes them.'),
  vault: z.strictObject({ premium_micro: micro, quantity: z.number() }).nullable(),
  open_interest: z.number(),
  open_interest_micro_per_point: micro.describe('Micro-USDC that all contracts of this series pay for one point.'),
  side_limit_micro_per_point: micro.describe(
    'The most that all calls, or all puts, of the topic and expiry may pay for one point: less than a push of the index costs.',
  ),
  agent_cost_micro: micro.describe('Money that is gone when one more agent counts in the index.'),
  collateral_micro: micro,
  history: z.array(z.strictObject({ at, index: z.string(), agents: z.number().nullable() })),
  settlement: z.string().nullable(),
  method: z.looseObject({
    tick_ms: z.number(),
    decay_ppb: z.number(),
    lookback: z.number(),
    base_share_e12: z.string().nullable(),
    time_scale: z.number(),
  }),
})

export const purchaseView = z.strictObject({
  position_id: z.string(),
  symbol: z.string(),
  wallet: z.string(),
  quantity: z.number(),
  premium_micro: micro,
  premium_usd: z.string(),
  most_micro: micro,
  expires_at: at,
  refundable: z.literal(false),
  position_url: z.string(),
  synthetic,
})

export const offerView = z.strictObject({
  offer_id: z.string(),
  symbol: z.string(),
  wallet: z.string(),
  quantity: z.number(),
  premium_micro: micro,
  premium_usd: z.string(),
  collateral_micro: micro,
  most_micro: micro,
  expires_at: at,
  state: z.literal('pending'),
  note: z.string(),
  synthetic,
})

export const withdrawnView = z.strictObject({
  offer_id: z.string(),
  symbol: z.string(),
  quantity: z.number(),
  left: z.number(),
  returned_micro: micro,
  note: z.string(),
})

export const quoteView = z.strictObject({
  quote_id: z.string(),
  symbol: z.string(),
  quantity: z.number(),
  premium_micro: micro,
  premium_usd: z.string(),
  size_micro: micro.describe('Of one contract, for one point of the index.'),
  seconds_left: z.number(),
  expires_at: at,
  jws: z.string(),
  synthetic,
})

const positionInput = z.string().regex(/^opt_[0-9a-z]{26}$/, 'must be the id of a position')
export const bidBody = z.strictObject({
  position_id: positionInput,
  quantity: quantityInput.optional().describe('Default: all that the vault wrote.'),
})
export const closeBody = z
  .strictObject({
    position_id: positionInput,
    bid_id: z.string().regex(quoteIdPattern, 'is not a bid of this node').optional(),
    limit_usd: z.string().max(20).optional().describe('Sells to orders of the book that pay this or more a contract.'),
    quantity: quantityInput.optional().describe('With limit_usd. Default: all.'),
    rest: z
      .boolean()
      .optional()
      .describe(
        'With limit_usd: what finds no taker waits in the book, in place of an earlier order of this position.',
      ),
  })
  .refine(({ bid_id, limit_usd }) => (bid_id === undefined) !== (limit_usd === undefined), {
    error: 'must name either bid_id or limit_usd',
  })

export const bidView = z.strictObject({
  bid_id: z.string(),
  position_id: z.string(),
  symbol: z.string(),
  quantity: z.number(),
  bid_micro: micro,
  bid_usd: z.string(),
  seconds_left: z.number(),
  expires_at: at,
  jws: z.string(),
  synthetic,
})

export const closedView = z.strictObject({
  position_id: z.string(),
  symbol: z.string(),
  quantity: z.number(),
  left: z.number(),
  waiting: z.number().describe('Of those left: contracts that wait in the book.'),
  paid_micro: micro,
  paid_usd: z.string(),
  later_micro: micro.describe('Of the price; paid when the series is settled, not when it is void.'),
  note: z.string(),
})

export const positionsView = z.strictObject({
  wallet: z.string(),
  positions: z.array(
    z.strictObject({
      position_id: z.string(),
      symbol: z.string(),
      quantity: z.number(),
      premium_micro: micro,
      most_micro: micro,
      state: z.enum(['held', 'open', 'closed', 'settled', 'voided', 'revoked']),
      final: z.boolean(),
      expires_at: at,
      payout_micro: micro.nullable(),
      value_micro: micro.nullable().describe('By the model, now; null where it is not traded.'),
      profit_micro: micro
        .nullable()
        .describe('Value or payout, and what was sold back, less what was paid; may be negative.'),
      expiry_profit_micro: micro
        .nullable()
        .describe('The same if it expired at the index of now; null where there is no index, or nothing is open.'),
      sell: z
        .strictObject({ limit_micro: micro, quantity: z.number() })
        .nullable()
        .describe('The order to sell of this position that waits in the book.'),
      closable_quantity: z.number().describe('Written by the vault, which buys them back.'),
      closed_quantity: z.number(),
      closed_micro: micro.describe('The price of what was sold.'),
      synthetic,
    }),
  ),
  offers: z.array(
    z.strictObject({
      offer_id: z.string(),
      symbol: z.string(),
      premium_micro: micro,
      quantity: z.number(),
      free_quantity: z.number(),
      sold_quantity: z.number(),
      collateral_micro: micro,
      state: z.enum(['pending', 'live', 'closed', 'revoked']),
    }),
  ),
  orders: z.array(
    z.strictObject({
      order_id: z.string(),
      symbol: z.string(),
      limit_micro: micro,
      quantity: z.number(),
      open_quantity: z.number(),
      immediate: z.boolean(),
      state: z.enum(['pending', 'live', 'closed', 'revoked']),
    }),
  ),
  payable_micro: micro,
  payouts: z.array(
    z.strictObject({ id: z.string(), amount_micro: micro, state: z.string(), transaction: z.string().nullable() }),
  ),
})

export const tradeView = z.strictObject({
  trade_id: z.string(),
  at,
  symbol: z.string(),
  kind: z
    .enum(['sale', 'close', 'revoked'])
    .describe(
      'sale: contracts were bought. close: a holder sold them, to the vault or to an order. revoked: a reorg took the premium of a sale.',
    ),
  position_id: z.string(),
  quantity: z.number(),
  total_micro: micro.nullable().describe('Of all its contracts; null where nothing was paid.'),
})

export const daysView = z.strictObject({
  symbol: z.string(),
  days: z.array(
    z.strictObject({
      day: z.string(),
      contracts: z.number().describe('Bought on that day.'),
      premium_micro: micro,
      closed: z.number().describe('Sold back on that day.'),
      open_interest: z.number().describe('Contracts at the end of the day.'),
    }),
  ),
  settlement: z.strictObject({ outcome: z.enum(['fixed', 'void']), value: z.string().nullable(), at }).nullable(),
})

export const vaultView = z.strictObject({
  state: z.enum(['quoting', 'off', 'not_funded', 'used_up', 'no_series']),
  reason: z.string(),
  capital_micro: micro.describe('What the operator set aside: a hard limit.'),
  limit_micro: micro.describe('Of it, what the custody wallet covers beyond everybody’s money.'),
  used_micro: micro.describe('Locked behind contracts.'),
  free_micro: micro,
  realised_micro: micro.describe('Profit of contracts that ended; may be negative.'),
  quotes: z.array(z.strictObject({ symbol: z.string(), ask_micro: micro, quantity: z.number(), bid_micro: micro })),
  inventory: z.array(
    z.strictObject({
      symbol: z.string(),
      contracts: z.number(),
      premium_micro: micro.describe('Received for them.'),
      locked_micro: micro,
      profit_micro: micro.nullable().describe('By the model, now; may be negative. Null before the first pricing.'),
    }),
  ),
})

const settlementDocument = z.looseObject({
  type: z.string(),
  symbol: z.string(),
  cluster: z.string(),
  kind: z.enum(['C', 'P']),
  strike: z.number(),
  width: z.number(),
  size_micro: z.string(),
  expires_at: z.string(),
  outcome: z.enum(['fixed', 'void']),
  value: z.string().optional(),
  payoff_micro: z.string().optional(),
  reason: z.string().optional(),
  extensions: z.number(),
  index: z.looseObject({ name: z.string(), tick_ms: z.number(), decay_ppb: z.number(), lookback: z.number() }),
  base_share_e12: z.string(),
  rules: z.looseObject({ window_ms: z.number(), agents_min: z.number(), extensions_max: z.number() }),
  inputs_after: z.string(),
  inputs_up_to: z.string(),
  inputs_sha256: z.string(),
  synthetic: z.boolean().optional(),
})

export const settlementView = z.strictObject({
  symbol: z.string(),
  outcome: z.enum(['fixed', 'void']),
  value: z.string().nullable(),
  payoff_micro: micro.nullable(),
  reason: z.string().nullable(),
  decided_at: at,
  contracts: z.number(),
  paid_micro: micro,
  document: settlementDocument,
  jws: z.string(),
  inputs_url: z.string(),
})

export const inputsView = z.strictObject({
  data: z.array(
    z.strictObject({
      ends_at: at,
      starts_at: at,
      cluster: z.string(),
      bonded: z.number().nullable(),
      event_id: z.string(),
      synthetic: z.boolean(),
    }),
  ),
  next_cursor: z.string().nullable(),
})

export const listOf = (item: z.ZodType) => z.strictObject({ data: z.array(item), next_cursor: z.string().nullable() })
