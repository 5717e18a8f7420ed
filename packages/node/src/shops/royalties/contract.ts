import type { Address } from '@assay/protocol/address'
import { type OwnContract, ownContract } from '@assay/till/chain/own-contract'
import type { Abi } from 'viem'
import royaltyArtifact from '../../../../../contracts/artifacts/RoyaltyTerms.json' with { type: 'json' }

export const royaltyAbi = royaltyArtifact.abi as Abi

export const royaltyTermsFor = (recipient: Address, bps: number): OwnContract =>
  ownContract(royaltyArtifact, [recipient, BigInt(bps)])
