import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { channelContract, erc3009Collector } from '@assay/protocol/typed-data/channel'
import { permit2Address, permit2Proxies } from '@assay/protocol/typed-data/permit2'
import { encodeDeployData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { demoIssuer } from './accounts.ts'
import { contractArtifacts } from './artifacts.ts'
import { feeLevel } from './fees.ts'
import type { ChainGenesis } from './history.ts'

/** The deployer at the same address on every chain: what it creates has an address that follows from its code. */
export const create2DeployerAddress: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const create2DeployerCode: Hex =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'

export const multicall3Address: Address = '0xca11bde05977b3631167028862be2a173976ca11'

const weiPerAccount = 1_000_000n * 10n ** 18n
const microUsdcPerAccount = 1_000_000n * 10n ** 6n

// Room for a transaction that settles several hundred payments at once.
const blockGasLimit = 100_000_000
const deploymentGas = 5_000_000n
const gasPerHolder = 40_000n

export type GenesisOptions = { chainId: number; timestamp: number; fund: readonly Address[] }

/** The first block: gas for every account that needs it, and the contracts that clients look for at known addresses. */
export function buildGenesis({ chainId, timestamp, fund }: GenesisOptions): ChainGenesis {
  const funded = [...holders(fund), demoIssuer(chainId).address]
  return {
    kind: 'genesis',
    format: 1,
    chainId,
    timestamp,
    coinbase: '0x00000000000000000000000000000000000a55a1',
    baseFeeWei: feeLevel(chainId).baseFeeWei.toString(),
    blockGasLimit,
    accounts: [
      ...funded.map((address) => ({ address, balance: weiPerAccount.toString() })),
      { address: multicall3Address, balance: '0', code: contractArtifacts.multicall3.deployedBytecode },
      { address: create2DeployerAddress, balance: '0', code: create2DeployerCode },
      { address: permit2Address, balance: '0', code: contractArtifacts.permit2.deployedBytecode },
      { address: permit2Proxies.exact, balance: '0', code: contractArtifacts.exactPermit2Proxy.deployedBytecode },
      { address: permit2Proxies.upto, balance: '0', code: contractArtifacts.uptoPermit2Proxy.deployedBytecode },
      { address: channelContract, balance: '0', code: contractArtifacts.batchSettlement.deployedBytecode },
      { address: erc3009Collector, balance: '0', code: contractArtifacts.erc3009DepositCollector.deployedBytecode },
    ],
  }
}

/** What was signed before: a process may start the same chain many times. */
const signed = new Map<string, Promise<Hex>>()

/** The issuer's first transaction: its sender and nonce fix the address of the token. */
export function signUsdcDeployment(chainId: number, fund: readonly Address[]): Promise<Hex> {
  const receivers = holders(fund)
  const key = [chainId, ...receivers].join()
  const known = signed.get(key) ?? signDeployment(chainId, receivers)
  signed.set(key, known)
  return known
}

function signDeployment(chainId: number, receivers: readonly Address[]): Promise<Hex> {
  const issuer = demoIssuer(chainId)
  const fees = feeLevel(chainId)
  return privateKeyToAccount(issuer.privateKey).signTransaction({
    type: 'eip1559',
    chainId,
    nonce: 0,
    gas: deploymentGas + gasPerHolder * BigInt(receivers.length),
    maxFeePerGas: fees.baseFeeWei * 2n + fees.priorityFeeWei,
    maxPriorityFeePerGas: fees.priorityFeeWei,
    data: encodeDeployData({
      abi: contractArtifacts.testUsdc.abi,
      bytecode: contractArtifacts.testUsdc.bytecode,
      args: [issuer.address, receivers, microUsdcPerAccount],
    }),
  })
}

function holders(fund: readonly Address[]): Address[] {
  return [...new Set(fund.map((address) => address.toLowerCase() as Address))]
}
