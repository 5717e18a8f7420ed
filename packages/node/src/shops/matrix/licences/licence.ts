/** Under which terms a source may be used. What is not known is not allowed. */
export type LicenceRecord = {
  id: string
  holder: string
  termsUrl: string | null
  termsDate: string | null
  /** May be shown free of charge by this node. */
  free: 'yes' | 'opt_in' | 'no'
  /** May be charged for. */
  commercial: 'yes' | 'no' | 'unknown'
  attribution: string
}

const record = (
  id: string,
  holder: string,
  free: LicenceRecord['free'],
  commercial: LicenceRecord['commercial'],
  attribution: string,
  termsUrl: string | null = null,
  termsDate: string | null = null,
): LicenceRecord => ({ id, holder, termsUrl, termsDate, free, commercial, attribution })

export const licences = {
  sec: record(
    'us-government-work',
    'U.S. Securities and Exchange Commission',
    'yes',
    'yes',
    'Source: U.S. Securities and Exchange Commission.',
    'https://www.sec.gov/privacy#dissemination',
  ),
  finra: record(
    'finra-equity-data',
    'Financial Industry Regulatory Authority',
    'yes',
    'no',
    'Source: FINRA. Non-commercial use only; no fee may be charged to end users.',
    'https://developer.finra.org/specific-terms-equity-data',
    '2022-12-20',
  ),
  nasdaq: record('nasdaq-trader-unknown', 'Nasdaq, Inc.', 'yes', 'unknown', 'Source: Nasdaq Trader.'),
  nyse: record('nyse-unknown', 'NYSE Group', 'yes', 'unknown', 'Source: NYSE.'),
  cboe: record('cboe-unknown', 'Cboe Global Markets', 'yes', 'unknown', 'Source: Cboe.'),
  ibkr: record('ibkr-unknown', 'Interactive Brokers', 'opt_in', 'unknown', 'Source: Interactive Brokers.'),
  operator: record(
    'operator-prices',
    'the supplier of the prices',
    'no',
    'unknown',
    'Prices supplied by the operator.',
  ),
  vendor: record(
    'vendor-fields',
    'the vendor that the operator has them from',
    'no',
    'unknown',
    'Lending and option figures of a vendor, supplied by the operator.',
  ),
  announced: record(
    'announced-facts',
    'nobody: announced by the companies',
    'yes',
    'yes',
    'Splits and symbol changes as announced, listed by the operator.',
  ),
  synthetic: record('synthetic', 'this node', 'yes', 'yes', 'Synthetic demo data; no real company or security.'),
} as const
