import type { Account, ProvenAccount } from '@assay/protocol/account'
import type { Hex } from '@assay/protocol/bytes'
import { type NodeDomain, nodeDomain } from '@assay/protocol/typed-data/node-domain'
import { hashTypedData, type TypedData, type TypedDataDefinition } from 'viem'
import { fromHex } from '../kernel/bytes.ts'
import { Problem } from '../kernel/problem.ts'
import { checkAccountSignature } from './check-account-signature.ts'
import type { ProofDeps } from './proof-deps.ts'

/** An EIP-712 statement somebody makes to this node; nonce and expiry are the statement's own fields. */
export type Statement = {
  types: TypedData
  primaryType: string
  message: Record<string, unknown>
}

/** The typed data a wallet is asked to sign. The domain names the node, so it means nothing anywhere else. */
export function statementTypedData(
  statement: Statement,
  node: string,
  chainId: number,
): Statement & { domain: NodeDomain } {
  return { ...statement, domain: nodeDomain(node, chainId) }
}

/** Checks the signature only; single use is the caller's, who knows what the statement does. */
export async function verifyStatement(
  deps: Pick<ProofDeps, 'checkContractSignature' | 'chainIds'>,
  input: { node: string; account: Account; statement: Statement; signature: Hex },
): Promise<ProvenAccount> {
  const { account, statement, signature } = input
  if (!deps.chainIds.includes(account.chainId))
    throw new Problem('proof_invalid', { detail: 'Accounts of this chain are not accepted here.' })
  const typedData = statementTypedData(statement, input.node, account.chainId) as TypedDataDefinition
  const digest = fromHex(hashTypedData(typedData))
  const proven = await checkAccountSignature(deps.checkContractSignature, { account, digest, signature })
  if (proven === undefined)
    throw new Problem('proof_invalid', { detail: 'The statement is not signed by this account for this node.' })
  return proven
}
