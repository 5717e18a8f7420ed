/**
 * The test. Universe, inputs, label and depths were written down before any result was seen, as assay-quality-1; the
 * second version adds the baseline of fails and the differences day by day. Changing it means a new name.
 */
export const testDefinition = {
  name: 'assay-quality-2',
  universe: 'top fifth by short interest over shares outstanding among the ranked symbols of the day',
  universe_share: 0.2,
  inputs: 'values whose files were public before 09:30 ET of the day, in the revision known then',
  horizon_days: 10,
  rise_min: 0.25,
  sigma_multiple: 2,
  sigma_days: 60,
  label:
    'highest close of the next 10 trading days above the last known close by more than 25 % and by more than 2 times the daily deviation of 60 days times the root of 10',
  depths: [10, 25, 50],
  baselines: [
    'short interest over shares',
    'open fails over shares',
    'trailing volatility',
    'the score before (assay-squeeze-1)',
    'public weights (short interest 30, days to cover 20, price 15, short volume 15, change 10, fails 10)',
  ],
  interval: '90 %, by resampling blocks of days as long as the horizon',
  difference:
    'lift at 25 of the score less that of the baseline, on the days both can rank, by resampling the same blocks for both',
} as const
