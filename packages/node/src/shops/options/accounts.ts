import { chainAccount } from '@assay/till/ledger'

const seriesPattern = /^TC-[A-Za-z0-9_-]{1,60}$/

function series(text: string): string {
  if (!seriesPattern.test(text)) throw new RangeError(`not a series for an account name: ${text}`)
  return text
}

export const optionAccounts = {
  /**
   * All that backs one option series. Credited with writers' collateral and buyers' premiums, debited when a
   * contract ends or unsold collateral returns; it is empty when the series is.
   */
  collateral: (network: string, symbol: string) =>
    chainAccount('liability', true, network, `option_collateral:${series(symbol)}`),
  /** Premiums of orders to buy that are not matched yet; it is empty when the series is. */
  orders: (network: string, symbol: string) =>
    chainAccount('liability', true, network, `option_orders:${series(symbol)}`),
} as const
