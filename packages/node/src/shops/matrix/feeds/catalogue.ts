import { currentMethod, type ScoreMethod, type ScoreMethodName, scoreMethods } from '../score/method.ts'
import { column, type Feed, type FeedId } from './feed.ts'

const scoreColumns = ({ factors }: ScoreMethod) => [
  column('score', '0..100', 'relative risk of forced covering within this universe, by percentile'),
  column('strength', 'points', 'what is ranked by: the mean of the factors’ points'),
  column('coverage_pct', '%', 'share of the weight of the factors that is known'),
  column('short_interest_to_shares', '%', 'short interest as a share of shares outstanding'),
  column('days_to_cover', 'days', 'short interest in days of average volume'),
  column('borrow_fee', '% a year', 'indicative fee for borrowing'),
  column('fails_to_shares', '%', 'open fails as a share of shares outstanding'),
  ...factors.map((rule) => column(`factors.${rule.name}`, rule.unit, rule.meaning, 'vip')),
]

const composite = (id: FeedId, title: string): Feed => ({
  id,
  title,
  method: currentMethod.name,
  rankedBy: 'score',
  cadence: 'whenever a source publishes; at least every trading day',
  needs: ['finra-short-interest', 'ibkr-borrow', 'sec-fails', 'finra-short-volume'],
  uses: [
    'sec-shares',
    'sec-tickers',
    'nasdaq-directory',
    'nasdaq-threshold',
    'nyse-threshold',
    'cboe-threshold',
    'nasdaq-halts',
    'prices',
  ],
  columns: scoreColumns(currentMethod),
})

/** A feed under an earlier method of the score; the others have one method. */
export function feedUnder(id: FeedId, method: ScoreMethodName): Feed {
  const feed = feeds[id]
  return feed.rankedBy === 'score' ? { ...feed, method, columns: scoreColumns(scoreMethods[method]) } : feed
}

export const feeds: Record<FeedId, Feed> = {
  squeeze: composite('squeeze', 'Squeeze ranking of all company shares, listed or not'),
  equities: composite('equities', 'Squeeze ranking of exchange-listed shares'),
  etf: composite('etf', 'The same score among exchange-traded funds'),
  'short-volume': {
    id: 'short-volume',
    title: 'Short share of off-exchange volume',
    method: 'assay-short-volume-1',
    rankedBy: 'z',
    cadence: 'every trading day',
    needs: ['finra-short-volume'],
    uses: ['nasdaq-directory', 'sec-fails'],
    columns: [
      column('short_volume', 'shares', 'short sale volume of the day, exempt included'),
      column('total_volume', 'shares', 'volume of the day'),
      column('ratio', 'share', 'short volume over total volume'),
      column('z', 'standard deviations', 'ratio against the symbol’s own 60 days'),
      column('exempt_volume', 'shares', 'short exempt volume', 'vip'),
      column('ratio_mean', 'share', 'mean ratio of 60 days', 'vip'),
      column('ratio_sd', 'share', 'standard deviation of the ratio over 60 days', 'vip'),
    ],
  },
  'short-interest': {
    id: 'short-interest',
    title: 'Short interest by settlement date',
    method: 'assay-short-interest-1',
    rankedBy: 'short_interest_to_shares',
    cadence: 'twice a month',
    needs: ['finra-short-interest'],
    uses: ['finra-short-volume', 'sec-shares', 'sec-tickers', 'nasdaq-directory', 'sec-fails'],
    columns: [
      column('short_interest', 'shares', 'open short positions at settlement'),
      column('short_interest_to_shares', '%', 'as a share of shares outstanding'),
      column('days_to_cover', 'days', 'in days of average volume'),
      column('change_pct', '%', 'against the settlement before'),
      column('short_interest_estimate', 'shares', 'now, implied by the short volume since the settlement', 'vip'),
      column('short_interest_low', 'shares', 'lower bound of the estimate, nine of ten within both', 'vip'),
      column('short_interest_high', 'shares', 'upper bound of the estimate', 'vip'),
      column('previous_short_interest', 'shares', 'at the settlement before', 'vip'),
      column('average_volume', 'shares', 'average daily volume', 'vip'),
      column('shares_outstanding', 'shares', 'from the newest cover page', 'vip'),
      column(
        'public_float_usd',
        'USD',
        'worth of the shares of others than insiders, as the last yearly report says; null where none is held',
        'vip',
      ),
    ],
  },
  ftd: {
    id: 'ftd',
    title: 'Fails to deliver',
    method: 'assay-ftd-1',
    rankedBy: 'fails_to_shares',
    cadence: 'twice a month',
    needs: ['sec-fails'],
    uses: ['sec-shares', 'sec-tickers', 'nasdaq-directory'],
    columns: [
      column('fails', 'shares', 'open balance at the settlement date'),
      column('fails_to_shares', '%', 'as a share of shares outstanding'),
      column('fails_value_usd', 'USD', 'at the prior close'),
      column(
        'threshold_level',
        'ratio',
        'balance against the threshold rule: the greater of 10,000 shares and 0.5 % of shares',
        'vip',
      ),
      column('shares_outstanding', 'shares', 'from the newest cover page', 'vip'),
    ],
  },
  threshold: {
    id: 'threshold',
    title: 'Reg SHO threshold lists',
    method: 'assay-threshold-1',
    rankedBy: 'days_on_list',
    cadence: 'every trading day',
    needs: ['nasdaq-threshold', 'nyse-threshold', 'cboe-threshold'],
    uses: ['nasdaq-directory', 'sec-fails', 'finra-short-interest'],
    columns: [
      column('days_on_list', 'lists', 'how many lists in a row'),
      column('entered', 'flag', 'new on the newest list'),
      column('fails', 'shares', 'open fails at the newest settlement date', 'vip'),
      column('short_interest', 'shares', 'newest short interest', 'vip'),
    ],
  },
  borrow: {
    id: 'borrow',
    title: 'Borrow fee and supply of one broker',
    method: 'assay-borrow-1',
    rankedBy: 'fee_pct',
    cadence: 'several times a day',
    needs: ['ibkr-borrow'],
    uses: ['nasdaq-directory'],
    columns: [
      column('fee_pct', '% a year', 'indicative fee'),
      column('available', 'shares', 'available to borrow; 10,000,000 is a cap'),
      column('rebate_pct', '% a year', 'rebate; negative means the borrower pays', 'vip'),
      column('available_capped', 'flag', 'the broker shows no more than its cap', 'vip'),
    ],
  },
  halts: {
    id: 'halts',
    title: 'Trading halts of the last ten days',
    method: 'assay-halts-1',
    rankedBy: 'halted_at',
    cadence: 'live',
    needs: ['nasdaq-halts'],
    uses: ['nasdaq-directory'],
    columns: [
      column('halted_at', 'time', 'when trading stopped'),
      column('reason', 'code', 'LUDP and M are volatility pauses, T1 and T2 news'),
      column('resumed_at', 'time', 'when trading went on'),
      column('market', 'text', 'listing market', 'vip'),
      column('pause_price', 'USD', 'pause threshold price', 'vip'),
    ],
  },
  institutional: {
    id: 'institutional',
    title: 'Institutional holdings (13F): what could be lent',
    method: 'assay-institutional-1',
    rankedBy: 'held_to_shares',
    cadence: 'every three months',
    needs: ['sec-13f', 'sec-fails'],
    uses: ['sec-shares', 'sec-tickers', 'nasdaq-directory'],
    columns: [
      column('holders', 'filers', 'institutions that reported a position'),
      column('held_shares', 'shares', 'sum of their positions'),
      column('held_to_shares', '%', 'as a share of shares outstanding'),
      column('held_value_usd', 'USD', 'as reported', 'vip'),
      column('shares_outstanding', 'shares', 'from the newest cover page', 'vip'),
    ],
  },
}
