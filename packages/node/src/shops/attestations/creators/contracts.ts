import type { Address } from '@assay/protocol/address'
import type { Network } from '@assay/till/chain'
import { type OwnContract, ownContract } from '@assay/till/chain/own-contract'
import type { Abi } from 'viem'
import distributorArtifact from '../../../../../../contracts/artifacts/CreatorDistributor.json' with { type: 'json' }

export const distributorAbi = distributorArtifact.abi as Abi

/** What is fixed in the contract beside the custody wallet. */
export type DistributorTerms = {
  /** Signs moves; the zero address for none. */
  mover: Address
  claimDelaySeconds: number
  moveDelaySeconds: number
}

/** One a chain, custody wallet and terms. Its address needs no configuration: it follows from them. */
export const distributorFor = (
  network: Pick<Network, 'usdc'>,
  custody: Address,
  terms: DistributorTerms,
): OwnContract =>
  ownContract(distributorArtifact, [
    network.usdc.address,
    custody,
    terms.mover,
    BigInt(terms.claimDelaySeconds),
    BigInt(terms.moveDelaySeconds),
  ])
