import type { ProvenAccount } from '@assay/protocol/account'
import type { Address } from '@assay/protocol/address'
import { Problem } from '@assay/till/kernel/problem'

/** A wallet as an agent. A contract wallet is named with its chain: elsewhere its address may have another owner. */
export type AgentAddress = { address: Address; chainId?: number }

const onChain = ({ address, chainId }: { address: Address; chainId: number }) => `eip155:${chainId}:${address}`

/** Rows that can speak for it, the most exact first. */
export function subjectsOf({ address, chainId }: AgentAddress): string[] {
  return chainId === undefined ? [address] : [onChain({ address, chainId }), address]
}

/** The row that a signer may write for the DID in the path. */
export function subjectOfSigner(named: AgentAddress, signer: ProvenAccount): string {
  if (signer.address !== named.address)
    throw new Problem('forbidden', { detail: 'The request is signed by another wallet than the DID names.' })
  if (signer.kind === 'key') return signer.address
  if (named.chainId !== signer.chainId)
    throw new Problem('forbidden', {
      detail: `A contract wallet speaks for one chain: use did:pkh:eip155:${signer.chainId}:${signer.address}.`,
    })
  return onChain(signer)
}
