import type { Abi } from 'viem'
import multicall3 from '../../../../contracts/artifacts/Multicall3.json' with { type: 'json' }
import smartWallet from '../../../../contracts/artifacts/SmartWallet.json' with { type: 'json' }
import smartWalletFactory from '../../../../contracts/artifacts/SmartWalletFactory.json' with { type: 'json' }
import testUsdc from '../../../../contracts/artifacts/TestUsdc.json' with { type: 'json' }
import type { Hex } from '../kernel/bytes.ts'

export type ContractArtifact = {
  contractName: string
  abi: Abi
  bytecode: Hex
  deployedBytecode: Hex
  sourceSha256: string
}

/** Our own contracts, compiled by scripts/compile-contracts.mjs and compared with their sources in CI. */
export const contractArtifacts = {
  multicall3: multicall3 as ContractArtifact,
  smartWallet: smartWallet as ContractArtifact,
  smartWalletFactory: smartWalletFactory as ContractArtifact,
  testUsdc: testUsdc as ContractArtifact,
}
