import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { type Abi, encodeDeployData, getContractAddress, keccak256, stringToHex } from 'viem'
import type { Clock } from '../kernel/clock.ts'
import { areDeployed } from './payer-code.ts'
import type { Rpc } from './rpc.ts'
import type { SettlementWallets } from './wallet/index.ts'

/** Present on Base, Polygon and most other chains: what it creates has an address that follows from code and salt. */
const create2Deployer: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'
const salt = keccak256(stringToHex('assay v1'))

export type OwnContract = { address: Address; initCode: Hex }

/** Jobs ask for them every second, and hashing code is slow. */
const addresses = new Map<Hex, Address>()

export function ownContract(artifact: { abi: unknown; bytecode: string }, args: readonly unknown[]): OwnContract {
  const initCode = encodeDeployData({ abi: artifact.abi as Abi, bytecode: artifact.bytecode as Hex, args })
  const known = addresses.get(initCode)
  if (known) return { address: known, initCode }
  const created = getContractAddress({ opcode: 'CREATE2', from: create2Deployer, salt, bytecode: initCode })
  const address = created.toLowerCase() as Address
  addresses.set(initCode, address)
  return { address, initCode }
}

/** Code that is there stays there: it is asked for until it is seen. */
const seen = new WeakMap<Rpc, Set<Address>>()

export async function isDeployed(rpc: Rpc, address: Address): Promise<boolean> {
  const known = seen.get(rpc) ?? new Set()
  if (known.has(address)) return true
  const isThere = await areDeployed(rpc, [address])
  if (isThere) seen.set(rpc, known.add(address))
  return isThere
}

/** When the deployer was missing: jobs ask every few seconds, and a chain that has none gets none soon. */
const missed = new WeakMap<Rpc, number>()
const missedMsMax = 600_000

/** True once the contract is there. Anyone may deploy it; its address does not depend on the deployer. */
export async function ensureDeployed(
  deps: { clock: Clock },
  { rpc, wallets }: { rpc: Rpc; wallets: SettlementWallets },
  contract: OwnContract,
): Promise<boolean> {
  const missedMs = missed.get(rpc) ?? Number.NEGATIVE_INFINITY
  if (deps.clock.monotonicMs() - missedMs < missedMsMax) return false
  if (await isDeployed(rpc, contract.address)) return true
  // Without the deployer the call would go nowhere and still cost gas.
  if (!(await isDeployed(rpc, create2Deployer))) {
    missed.set(rpc, deps.clock.monotonicMs())
    return false
  }
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
