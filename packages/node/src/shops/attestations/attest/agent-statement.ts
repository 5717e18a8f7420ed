import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { zeroBytes32 } from '@assay/protocol/typed-data/eas'
import { Problem } from '@assay/till/kernel/problem'
import { type ProofDeps, type Statement, verifyStatement } from '@assay/till/proofs'
import { attestationProblems } from '../problems.ts'

export type CitedByAgent = {
  agent: Address
  payer: Address
  sourceUrl: string
  quoteSha256: Uint8Array | undefined
  claimSha256: Uint8Array | undefined
}

/** What an agent signs so that somebody else may pay for its citation. It names the payer: nobody else can use it. */
export function citationStatement(citation: CitedByAgent): Statement {
  const hash = (bytes: Uint8Array | undefined) => (bytes === undefined ? zeroBytes32 : toHex(bytes))
  return {
    types: {
      AgentCitation: [
        { name: 'agent', type: 'address' },
        { name: 'payer', type: 'address' },
        { name: 'sourceUrl', type: 'string' },
        { name: 'quoteSha256', type: 'bytes32' },
        { name: 'claimSha256', type: 'bytes32' },
      ],
    },
    primaryType: 'AgentCitation',
    message: {
      agent: citation.agent,
      payer: citation.payer,
      sourceUrl: citation.sourceUrl,
      quoteSha256: hash(citation.quoteSha256),
      claimSha256: hash(citation.claimSha256),
    },
  }
}

/** The payer speaks for itself; for anybody else a signature of that wallet is needed, or citations could be forged. */
export async function requireAgent(
  deps: { proofs: ProofDeps; apiUrl: string; chainId: number },
  citation: CitedByAgent,
  signature: Hex | undefined,
): Promise<void> {
  if (citation.agent === citation.payer) return
  if (signature === undefined)
    throw new Problem(attestationProblems.agent_unproven, {
      detail: `agent_wallet is ${citation.agent}, the payment came from ${citation.payer}.`,
    })
  try {
    await verifyStatement(deps.proofs, {
      node: deps.apiUrl,
      account: { chainId: deps.chainId, address: citation.agent },
      statement: citationStatement(citation),
      signature,
    })
  } catch (error) {
    if (error instanceof Problem && error.code === 'proof_invalid')
      throw new Problem(attestationProblems.agent_unproven, {
        detail: 'agent_signature was not made by agent_wallet for this citation.',
      })
    throw error
  }
}
