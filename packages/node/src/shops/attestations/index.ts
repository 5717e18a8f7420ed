export { attestationPackage, type CitationAttester, createCitationAttester } from './attest/attester.ts'
export { describeLog } from './attest/describe-attestation.ts'
export { signRecord } from './attest/sign-record.ts'
export { findAttestation } from './attest/store.ts'
export { withProof } from './attest/with-proof.ts'
export { accrueShares, type Share } from './creators/accrue.ts'
export { readPayouts } from './creators/describe-payout.ts'
export { findPayee } from './creators/payee.ts'
export { fundingClusters } from './funding/index.ts'
export {
  attestationsMigrations,
  attestationsShop,
  openAttestationsShop,
} from './open-shop.ts'
export { type MarketSettings, marketVariables, parseMarketSettings } from './settings.ts'
