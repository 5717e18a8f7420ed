import type { Hex } from '@assay/protocol/bytes'
import type { Abi } from 'viem'
import b20ActivationRegistry from '../../../../contracts/artifacts/B20ActivationRegistry.json' with { type: 'json' }
import b20Asset from '../../../../contracts/artifacts/B20Asset.json' with { type: 'json' }
import b20Factory from '../../../../contracts/artifacts/B20Factory.json' with { type: 'json' }
import b20ForkSwitch from '../../../../contracts/artifacts/B20ForkSwitch.json' with { type: 'json' }
import b20PolicyRegistry from '../../../../contracts/artifacts/B20PolicyRegistry.json' with { type: 'json' }
import b20Stub from '../../../../contracts/artifacts/B20Stub.json' with { type: 'json' }
import b20Token from '../../../../contracts/artifacts/B20Token.json' with { type: 'json' }
import batchSettlement from '../../../../contracts/artifacts/BatchSettlement.json' with { type: 'json' }
import controlAttestation from '../../../../contracts/artifacts/ControlAttestation.json' with { type: 'json' }
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
  b20ActivationRegistry: b20ActivationRegistry as ContractArtifact,
  b20Asset: b20Asset as ContractArtifact,
  b20Factory: b20Factory as ContractArtifact,
  b20ForkSwitch: b20ForkSwitch as ContractArtifact,
  b20PolicyRegistry: b20PolicyRegistry as ContractArtifact,
  b20Stub: b20Stub as ContractArtifact,
  b20Token: b20Token as ContractArtifact,
  batchSettlement: batchSettlement as ContractArtifact,
  controlAttestation: controlAttestation as ContractArtifact,
  erc3009DepositCollector: erc3009DepositCollector as ContractArtifact,
  exactPermit2Proxy: exactPermit2Proxy as ContractArtifact,
  multicall3: multicall3 as ContractArtifact,
  permit2: permit2 as ContractArtifact,
  smartWallet: smartWallet as ContractArtifact,
  smartWalletFactory: smartWalletFactory as ContractArtifact,
  testUsdc: testUsdc as ContractArtifact,
  uptoPermit2Proxy: uptoPermit2Proxy as ContractArtifact,
}
