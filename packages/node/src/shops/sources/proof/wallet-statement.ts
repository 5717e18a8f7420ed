import type { Statement } from '@assay/till/proofs'
import type { ProofTerms } from './instructions.ts'

/** What the payout wallet signs: it wants the money of this domain. Without it nothing is paid out. */
export function walletStatement(terms: ProofTerms): Statement {
  return {
    types: {
      SourcePayout: [
        { name: 'domain', type: 'string' },
        { name: 'wallet', type: 'address' },
        { name: 'claim', type: 'string' },
        { name: 'token', type: 'string' },
      ],
    },
    primaryType: 'SourcePayout',
    message: { domain: terms.domain, wallet: terms.wallet, claim: terms.claimId, token: terms.token },
  }
}
