import type { Network } from '@assay/till/chain'
import { type OwnContract, ownContract } from '@assay/till/chain/own-contract'
import type { Address } from '@assay/till/kernel/address'
import type { Abi } from 'viem'
import distributorArtifact from '../../../../../../contracts/artifacts/CreatorDistributor.json' with { type: 'json' }

export const distributorAbi = distributorArtifact.abi as Abi

/** One a chain and custody wallet. Its address needs no configuration: it follows from the two. */
export const distributorFor = (network: Network, custody: Address): OwnContract =>
  ownContract(distributorArtifact, [network.usdc.address, custody])
