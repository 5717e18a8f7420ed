/** Answers as the documents show them. */
const at = '2026-12-04T08:00:00.000Z'
const symbol = 'TC-52-20261204-100-C'
const wallet = '0x1111111111111111111111111111111111111111'

export const exampleSymbol = symbol
export const exampleWallet = wallet
export const exampleOfferId = 'ofr_06d1z8k4q2v7e9m3x5c0w8r2t4'

export const exampleSeries = {
  symbol,
  cluster: '52',
  kind: 'call',
  strike: 100,
  pays_up_to: 100,
  size_micro: '7827788',
  most_micro: '782778800',
  last_trade_at: '2026-12-03T08:00:00.000Z',
  expires_at: at,
  state: 'trading',
  premium_micro: '80000000',
  premium_usd: '80',
  buyable: true,
  volatility: 0.9,
  implied_volatility: 0.9,
  greeks: { delta: 0.553, gamma: 0.0151, vega: 11.4, theta: -62.1 },
}

export const exampleDetail = {
  ...exampleSeries,
  index: '101.2500',
  index_at: '2026-11-20T08:00:00.000Z',
  model_micro: '80000000',
  priced_at: '2026-11-20T08:00:20.000Z',
  book: [{ premium_micro: '79000000', quantity: 2, offers: 1 }],
  bids: [{ premium_micro: '76000000', quantity: 1, orders: 1 }],
  resales: [{ premium_micro: '78000000', quantity: 1, orders: 1 }],
  vault: null,
  open_interest: 3,
  open_interest_micro_per_point: '8000000',
  side_limit_micro_per_point: '52610000',
  agent_cost_micro: '5001000',
  collateral_micro: '3756005240',
  history: [{ at: '2026-11-20T08:00:00.000Z', index: '101.2500', agents: 41 }],
  settlement: null,
  method: {
    index: 'assay.options.index/v1',
    settlement: 'assay.options.settlement/v1',
    tick_ms: 3_600_000,
    decay_ppb: 890_898_718,
    lookback: 48,
    base_share_e12: '41000000000',
    time_scale: 1,
  },
}

export const exampleCluster = {
  cluster: '52',
  name: 'Business and Finance',
  parent: null,
  tier: 1,
  source: 'iab',
  index: '101.2500',
  index_at: '2026-11-20T08:00:00.000Z',
  agents: 41,
  base_at: '2026-11-01T08:00:00.000Z',
  base_share_e12: '41000000000',
  volatility: 0.9,
  series: 12,
}

export const exampleQuote = {
  quote_id: 'VEMtNTItMjAyNjEyMDQtMTAwLUN8MXw4MDAwMDAwMHw.AAAAAAAAAAAAAAAAAAAAAA',
  symbol,
  quantity: 1,
  premium_micro: '80000000',
  premium_usd: '80',
  size_micro: '8000000',
  seconds_left: 60,
  expires_at: '2026-11-20T08:01:00.000Z',
  jws: 'eyJ…',
}

export const exampleBid = {
  bid_id: 'b3B0XzA2ZDF6OGs0cTJ2N2U5bTN4NWMwdzhyMnQ0fDF8NjAwMDAwMDB8.AAAAAAAAAAAAAAAAAAAAAA',
  position_id: 'opt_06d1z8k4q2v7e9m3x5c0w8r2t4',
  symbol,
  quantity: 1,
  bid_micro: '60000000',
  bid_usd: '60',
  seconds_left: 60,
  expires_at: '2026-11-20T08:01:00.000Z',
  jws: 'eyJ…',
}

export const exampleClosed = {
  position_id: 'opt_06d1z8k4q2v7e9m3x5c0w8r2t4',
  symbol,
  quantity: 1,
  left: 0,
  waiting: 0,
  paid_micro: '60000000',
  paid_usd: '60',
  later_micro: '0',
  note: 'It is sent to your wallet with the next payout.',
}

export const examplePurchase = {
  position_id: 'opt_06d1z8k4q2v7e9m3x5c0w8r2t4',
  symbol,
  wallet,
  quantity: 1,
  premium_micro: '80000000',
  premium_usd: '80',
  most_micro: '782778800',
  expires_at: at,
  refundable: false,
  position_url: `/v1/options/positions/${wallet}`,
}

export const exampleOffer = {
  offer_id: exampleOfferId,
  symbol,
  wallet,
  quantity: 1,
  premium_micro: '80000000',
  premium_usd: '80',
  collateral_micro: '702778800',
  most_micro: '782778800',
  expires_at: at,
  state: 'pending',
  note: 'The offer enters the book once its money is final. Unsold contracts can be withdrawn.',
}

export const exampleOrder = {
  order_id: 'ord_06d1z8k4q2v7e9m3x5c0w8r2t4',
  symbol,
  wallet,
  quantity: 1,
  limit_micro: '76000000',
  limit_usd: '76',
  paid_micro: '76000000',
  immediate: false,
  last_trade_at: '2026-12-03T08:00:00.000Z',
  state: 'pending',
  note: 'The order enters the book once its money is final. What is not bought is paid back.',
}

export const exampleTrade = {
  trade_id: '1791',
  at: '2026-11-20T08:00:00.000Z',
  symbol,
  kind: 'sale',
  position_id: examplePurchase.position_id,
  quantity: 1,
  total_micro: '80000000',
}

export const exampleDays = {
  symbol,
  days: [{ day: '2026-11-20', contracts: 4, premium_micro: '320000000', closed: 1, open_interest: 3 }],
  settlement: null,
}

export const exampleVault = {
  state: 'quoting',
  reason: 'The vault quotes both sides.',
  capital_micro: '50000000000',
  limit_micro: '50000000000',
  used_micro: '2108336400',
  free_micro: '47891663600',
  realised_micro: '184000000',
  quotes: [{ symbol, ask_micro: '80000000', quantity: 10, bid_micro: '76000000' }],
  inventory: [
    { symbol, contracts: 3, premium_micro: '240000000', locked_micro: '2108336400', profit_micro: '-33000000' },
  ],
}

export const exampleWithdrawn = {
  offer_id: exampleOfferId,
  symbol,
  quantity: 1,
  left: 0,
  returned_micro: '702778800',
  note: 'It is sent to your wallet with the next payout.',
}

export const exampleHoldings = {
  wallet,
  positions: [
    {
      position_id: examplePurchase.position_id,
      symbol,
      quantity: 1,
      premium_micro: '80000000',
      most_micro: '782778800',
      state: 'open',
      final: true,
      expires_at: at,
      payout_micro: null,
      value_micro: '91000000',
      profit_micro: '11000000',
      expiry_profit_micro: '-80000000',
      sell: null,
      closable_quantity: 1,
      closed_quantity: 0,
      closed_micro: '0',
    },
  ],
  offers: [],
  orders: [],
  payable_micro: '0',
  payouts: [],
}

export const exampleSettlement = {
  symbol,
  outcome: 'fixed',
  value: '112.5000',
  payoff_micro: '97847350',
  reason: null,
  decided_at: '2026-12-04T08:00:12.000Z',
  contracts: 3,
  paid_micro: '293542050',
  document: {
    type: 'assay.options.settlement/v1',
    symbol,
    cluster: '52',
    kind: 'C',
    strike: 100,
    width: 25,
    size_micro: '195694700',
    expires_at: at,
    outcome: 'fixed',
    value: '112.5000',
    payoff_micro: '97847350',
    extensions: 0,
    index: { name: 'assay-demand-1', tick_ms: 3_600_000, decay_ppb: 958_650_000, lookback: 72 },
    base_share_e12: '8200000000',
    rules: { window_ms: 86_400_000, agents_min: 20, extensions_max: 3 },
    inputs_after: '2026-12-01T08:00:00.000Z',
    inputs_up_to: at,
    inputs_sha256: '5f'.repeat(32),
  },
  jws: 'eyJ…',
  inputs_url: `/v1/options/inputs?after=2026-12-01T08:00:00.000Z&up_to=${at}`,
}

export const exampleInput = {
  ends_at: at,
  starts_at: '2026-12-04T07:00:00.000Z',
  cluster: '52',
  bonded: 41,
  event_id: '1-481',
  synthetic: false,
}
