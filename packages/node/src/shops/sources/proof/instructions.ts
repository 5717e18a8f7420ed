import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Network } from '@assay/till/chain'

/** What a claim asks to be published. Bound to claim, domain and wallet: worthless for any other. */
export type ProofTerms = { claimId: string; domain: string; wallet: Address; token: string }

export const wellKnownPath = '/.well-known/citation-market.json'
export const metaName = 'citation-market-verification'
export const txtName = (domain: string) => `_citemarket.${domain}`

export const payTo = (base: Network, wallet: Address) => `${base.caip2}:${checksumAddress(wallet)}`

export function txtValue(base: Network, terms: ProofTerms): string {
  return `v=cm1; acct=${terms.claimId}; tok=${terms.token}; pay=${payTo(base, terms.wallet)}`
}

export function metaContent(base: Network, terms: ProofTerms): string {
  return `cm1 ${terms.claimId} ${terms.token} ${payTo(base, terms.wallet)}`
}

export function fileContent(base: Network, terms: ProofTerms) {
  return {
    version: 'cm1',
    domain: terms.domain,
    claims: [{ account: terms.claimId, token: terms.token, pay: payTo(base, terms.wallet) }],
  }
}

/** The three ways, with exact values. */
export function instructions(base: Network, terms: ProofTerms, origin: string) {
  return {
    dns: { record: 'TXT' as const, name: txtName(terms.domain), value: txtValue(base, terms) },
    file: {
      url: `${origin}${wellKnownPath}`,
      content_type: 'application/json' as const,
      content: fileContent(base, terms),
    },
    meta: { url: `${origin}/`, html: `<meta name="${metaName}" content="${metaContent(base, terms)}">` },
  }
}
