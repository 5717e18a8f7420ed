import type { Network, Rpc } from '@assay/till/chain'
import type { SettlementWallets } from '@assay/till/chain/wallet'
import type { Address } from '@assay/till/kernel/address'
import type { Hex } from '@assay/till/kernel/bytes'
import type { Clock } from '@assay/till/kernel/clock'
import { type Abi, encodeDeployData, getContractAddress, keccak256, stringToHex } from 'viem'
import distributorArtifact from '../../../../../../contracts/artifacts/CreatorDistributor.json' with { type: 'json' }
import logAnchorArtifact from '../../../../../../contracts/artifacts/LogAnchor.json' with { type: 'json' }
import royaltyArtifact from '../../../../../../contracts/artifacts/RoyaltyTerms.json' with { type: 'json' }

export const distributorAbi = distributorArtifact.abi as Abi
export const logAnchorAbi = logAnchorArtifact.abi as Abi
export const royaltyAbi = royaltyArtifact.abi as Abi

/** Present on Base, Polygon and most other chains: what it creates has an address that follows from code and salt. */
const create2Deployer: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const salt = keccak256(stringToHex('assay v1'))

export type OwnContract = { address: Address; initCode: Hex }

function ownContract(artifact: { abi: unknown; bytecode: string }, args: readonly unknown[]): OwnContract {
  const initCode = encodeDeployData({ abi: artifact.abi as Abi, bytecode: artifact.bytecode as Hex, args })
  const address = getContractAddress({ opcode: 'CREATE2', from: create2Deployer, salt, bytecode: initCode })
  return { address: address.toLowerCase() as Address, initCode }
}

/** One a chain and custody wallet. Its address needs no configuration: it follows from the two. */
export const distributorFor = (network: Network, custody: Address): OwnContract =>
  ownContract(distributorArtifact, [network.usdc.address, custody])

export const logAnchorContract: OwnContract = ownContract(logAnchorArtifact, [])

export const royaltyTermsFor = (recipient: Address, bps: number): OwnContract =>
  ownContract(royaltyArtifact, [recipient, BigInt(bps)])

export async function isDeployed(rpc: Rpc, address: Address): Promise<boolean> {
  const code = await rpc.first('eth_getCode', [address, 'latest'])
  return typeof code === 'string' && code.length > 2
}

/** True once the contract is there. Anyone may deploy it, and it is the same whoever does. */
export async function ensureDeployed(
  deps: { clock: Clock },
  { rpc, wallets }: { rpc: Rpc; wallets: SettlementWallets },
  contract: OwnContract,
): Promise<boolean> {
  if (await isDeployed(rpc, contract.address)) return true
  // Without the deployer the call would go nowhere and still cost gas.
  if (!(await isDeployed(rpc, create2Deployer))) return false
  const sent = await wallets.send({
    purpose: 'deploy',
    references: [contract.address],
    to: create2Deployer,
    data: `${salt}${contract.initCode.slice(2)}`,
    gasLimit: 3_000_000n,
    stillWanted: () => true,
  })
  if (sent.status === 'sent') await Promise.race([sent.outcome, deps.clock.sleep(15_000)])
  return isDeployed(rpc, contract.address)
}
