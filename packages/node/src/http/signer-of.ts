import type { ProvenAccount } from '@assay/protocol/account'
import { type ProofDeps, verifySignedRequest } from '@assay/till/proofs'
import type { CallContext } from '@assay/till/selling'

/** The wallet that signed this request (ERC-8128). Throws a Problem when none did. */
export const signerOf = (
  { proofs }: { proofs: ProofDeps },
  { method, received, headers, rawBody }: CallContext,
): Promise<ProvenAccount> => verifySignedRequest(proofs, { method, ...received, headers, rawBody })
