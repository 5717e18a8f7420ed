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

/** Terms are named where they were found. */
type Found = Omit<LicenceRecord, 'termsUrl' | 'termsDate'> & Partial<Pick<LicenceRecord, 'termsUrl' | 'termsDate'>>

const record = ({ id, holder, termsUrl = null, termsDate = null, ...allowed }: Found): LicenceRecord => ({
  ...{ id, holder, termsUrl, termsDate },
  ...allowed,
})

export const licences = {
  sec: record({
    id: 'us-government-work',
    holder: 'U.S. Securities and Exchange Commission',
    free: 'yes',
    commercial: 'yes',
    attribution: 'Source: U.S. Securities and Exchange Commission.',
    termsUrl: 'https://www.sec.gov/privacy#dissemination',
  }),
  finra: record({
    id: 'finra-equity-data',
    holder: 'Financial Industry Regulatory Authority',
    free: 'yes',
    commercial: 'no',
    attribution: 'Source: FINRA. Non-commercial use only; no fee may be charged to end users.',
    termsUrl: 'https://developer.finra.org/specific-terms-equity-data',
    termsDate: '2022-12-20',
  }),
  nasdaq: record({
    id: 'nasdaq-trader-unknown',
    holder: 'Nasdaq, Inc.',
    free: 'yes',
    commercial: 'unknown',
    attribution: 'Source: Nasdaq Trader.',
  }),
  nyse: record({
    id: 'nyse-unknown',
    holder: 'NYSE Group',
    free: 'yes',
    commercial: 'unknown',
    attribution: 'Source: NYSE.',
  }),
  cboe: record({
    id: 'cboe-unknown',
    holder: 'Cboe Global Markets',
    free: 'yes',
    commercial: 'unknown',
    attribution: 'Source: Cboe.',
  }),
  ibkr: record({
    id: 'ibkr-unknown',
    holder: 'Interactive Brokers',
    free: 'opt_in',
    commercial: 'unknown',
    attribution: 'Source: Interactive Brokers.',
  }),
  operator: record({
    id: 'operator-prices',
    holder: 'the supplier of the prices',
    free: 'no',
    commercial: 'unknown',
    attribution: 'Prices supplied by the operator.',
  }),
  vendor: record({
    id: 'vendor-fields',
    holder: 'the vendor that the operator has them from',
    free: 'no',
    commercial: 'unknown',
    attribution: 'Lending and option figures of a vendor, supplied by the operator.',
  }),
  announced: record({
    id: 'announced-facts',
    holder: 'nobody: announced by the companies',
    free: 'yes',
    commercial: 'yes',
    attribution: 'Splits and symbol changes as announced, listed by the operator.',
  }),
  synthetic: record({
    id: 'synthetic',
    holder: 'this node',
    free: 'yes',
    commercial: 'yes',
    attribution: 'Synthetic demo data; no real company or security.',
  }),
} as const
