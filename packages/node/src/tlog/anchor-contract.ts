import { type OwnContract, ownContract } from '@assay/till/chain/own-contract'
import type { Abi } from 'viem'
import logAnchorArtifact from '../../../../contracts/artifacts/LogAnchor.json' with { type: 'json' }

export const logAnchorAbi = logAnchorArtifact.abi as Abi
export const logAnchorContract: OwnContract = ownContract(logAnchorArtifact, [])
