import { defineProblems, problemRow as row } from '@assay/till/kernel/problem'

export const optionProblems = defineProblems({
  series_unknown: row(404, false, 'Option series not found', 'GET /v1/options/series lists those that can be bought.'),
  series_closed: row(
    409,
    false,
    'Option series is closed',
    'Choose one with a later expiry from GET /v1/options/series. Nothing was charged.',
  ),
  options_sold_out: row(
    409,
    true,
    'Not enough contracts are offered',
    'See `available`, or choose another series. Nothing was charged.',
  ),
  options_price_moved: row(
    409,
    true,
    'Premium has changed',
    'Request a new quote; `premium_micro` is the present premium, which may be lower. Nothing was charged.',
  ),
  options_limit: row(
    409,
    false,
    'Exchange limit is reached',
    'See `limit` for which one; buy fewer contracts or another series. Nothing was charged.',
  ),
  options_not_eligible: row(
    403,
    false,
    'Wallet may not trade options',
    'The operator decides who may; write to the contact in the index. Nothing was charged.',
  ),
  quote_stale: row(
    409,
    true,
    'Quote is not valid',
    'Quotes last 60 seconds and fit one series and quantity: get a fresh one from POST /v1/options/quote. Nothing was charged.',
  ),
  premium_out_of_band: row(
    400,
    false,
    'Premium is out of range',
    'A contract is written for 50 to 120 USD; see `lowest_usd` and `highest_usd`. Nothing was charged.',
  ),
  position_unknown: row(
    404,
    false,
    'Position not found',
    'GET /v1/options/positions/{wallet} lists the positions of a wallet.',
  ),
  options_no_bid: row(
    409,
    true,
    'No bid for these contracts',
    'The vault buys back what it wrote itself, `available` contracts of the position; any can be sold to orders of the book (limit_usd). Nothing was changed.',
  ),
  offer_unknown: row(404, false, 'Offer not found', 'GET /v1/options/positions/{wallet} lists the offers of a wallet.'),
  collateral_locked: row(
    409,
    false,
    'Collateral is locked',
    'Contracts that are sold or reserved stay covered until they end; see `free_quantity`.',
  ),
  money_not_final: row(
    409,
    true,
    'Money is not final yet',
    'Try again after Retry-After seconds; money can be moved once its payment is in a final block.',
  ),
})
