import { chainAccount } from '@assay/till/ledger'

const domainPattern = /^[a-z0-9.-]{1,253}$/

function domainName(text: string): string {
  if (!domainPattern.test(text)) throw new RangeError(`not a domain for an account name: ${text}`)
  return text
}

export const creatorAccounts = {
  /** Shares of a source that nobody has proven. Credited when earned, debited when released, expired or reversed. */
  waiting: (network: string, domain: string, shard: number) =>
    chainAccount('liability', true, network, `payable:creator_waiting.${shard}:${domainName(domain)}`),
  /** USDC in the distributor contract. Debited by each root, credited by each claim. */
  distributor: (network: string) => chainAccount('asset', false, network, 'onchain:distributor'),
} as const
