import type { Hex } from '@assay/protocol/bytes'
import type { Abi } from 'viem'
import batchSettlement from '../../../../contracts/artifacts/BatchSettlement.json' with { type: 'json' }
import erc3009DepositCollector from '../../../../contracts/artifacts/Erc3009DepositCollector.json' with { type: 'json' }
import exactPermit2Proxy from '../../../../contracts/artifacts/ExactPermit2Proxy.json' with { type: 'json' }
import multicall3 from '../../../../contracts/artifacts/Multicall3.json' with { type: 'json' }
import permit2 from '../../../../contracts/artifacts/Permit2.json' with { type: 'json' }
import smartWallet from '../../../../contracts/artifacts/SmartWallet.json' with { type: 'json' }
import smartWalletFactory from '../../../../contracts/artifacts/SmartWalletFactory.json' with { type: 'json' }
import testUsdc from '../../../../contracts/artifacts/TestUsdc.json' with { type: 'json' }
import uptoPermit2Proxy from '../../../../contracts/artifacts/UptoPermit2Proxy.json' with { type: 'json' }

export type ContractArtifact = {
  abi: Abi
  bytecode: Hex
  deployedBytecode: Hex
}

/** Our own contracts, compiled by scripts/compile-contracts.mjs and compared with their sources in CI. */
export const contractArtifacts = {
  batchSettlement: batchSettlement as ContractArtifact,
  erc3009DepositCollector: erc3009DepositCollector as ContractArtifact,
  exactPermit2Proxy: exactPermit2Proxy as ContractArtifact,
  multicall3: multicall3 as ContractArtifact,
  permit2: permit2 as ContractArtifact,
  smartWallet: smartWallet as ContractArtifact,
  smartWalletFactory: smartWalletFactory as ContractArtifact,
  testUsdc: testUsdc as ContractArtifact,
  uptoPermit2Proxy: uptoPermit2Proxy as ContractArtifact,
}
