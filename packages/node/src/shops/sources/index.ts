export {
  appendToLog,
  createWitness,
  entryBytesMax,
  type LogProof,
  logOrigin,
  logPath,
  type NoteKey,
  openLog,
  parseNoteKey,
  proofAfterCommit,
  type SeenTree,
  type TransparencyLog,
  type WitnessStore,
} from '../../tlog/index.ts'
export { openWitnesses } from '../../tlog/open-witnesses.ts'
export { type CitationAttester, createCitationAttester } from '../attestations/attest/attester.ts'
export { describeLog, withKeys } from '../attestations/attest/describe-attestation.ts'
export { zeroBytes32 } from '../attestations/attest/eas.ts'
export { signRecord } from '../attestations/attest/sign-record.ts'
export { findAttestation } from '../attestations/attest/store.ts'
export { accrueShares, mergeLines, type Share } from '../attestations/creators/accrue.ts'
export { ensureDeployed, royaltyAbi, royaltyTermsFor } from '../attestations/creators/contracts.ts'
export { type PayoutView, readPayouts } from '../attestations/creators/describe-payout.ts'
export { findPayee } from '../attestations/creators/payee.ts'
export { fundingClusters } from '../attestations/funding/index.ts'
export { parseMarketSettings } from '../attestations/settings.ts'
export { type MatchShopOptions, openMatchShop } from '../match/open-match.ts'
export { tokenize } from '../match/tokenize.ts'
export { createMayRead, type MayRead } from './crawl/may-read.ts'
export type { ReadBonds, SourceDeps } from './deps.ts'
export { type CanonicalDomain, canonicalDomain } from './domain/canonical-domain.ts'
export { matchSuffix } from './domain/public-suffix.ts'
export { type CitationsShopOptions, openCitationsShop } from './open-shop.ts'
export { normalText, textDigest } from './page/text-digest.ts'
export { type CitedSource, findCitedSource } from './pages/find-payee.ts'
export { findPage, findPageVersion, type IndexedPage, type PageVersion } from './pages/indexed-page.ts'
export { type PageChange, pageStoredChannel, readPageChanges } from './pages/page-changes.ts'
export { readSourceTerms, type SourceLicence, type SourceTerms } from './pages/source-terms.ts'
export {
  type DisputeDecision,
  type DisputeRow,
  decideDispute,
  disputeStates,
  listDisputes,
} from './register/decide-dispute.ts'
export { admitSource, refuseSource } from './register/refuse-source.ts'
export { domainInput } from './schemas.ts'
export { agentWeight, isSelfDealing } from './score/agent-weight.ts'
export { evaluateScores } from './score/evaluate-scores.ts'
export { foldCitations, refoldAll } from './score/fold-citations.ts'
export { loadRanks, loadSeeds } from './score/load-inputs.ts'
