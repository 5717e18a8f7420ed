import type { Address } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import { encodeAbiParameters, keccak256, stringToHex } from 'viem'
import { demoIssuer } from './accounts.ts'
import { contractArtifacts } from './artifacts.ts'
import type { ChainState } from './chain-state.ts'
import { record } from './produce-block.ts'

export type B20Fork = 'beryl' | 'cobalt' | 'denim'

export const b20FactoryAddress: Address = '0xb20f000000000000000000000000000000000000'

/** Base and its test network; Polygon has no B20. */
const chainsWithB20: ReadonlySet<number> = new Set([8453, 84532])

const forkSwitch: Address = '0x00000000000000000000000000000000000b20f0'
const activationRegistry: Address = '0x8453000000000000000000000000000000000001'
const activationRoot: Hex = '0x43ee1bbe25e988521cccd8b2c8fbd38c8287ebff8e074e825a70dfd3885cce00'
const lifecycleSlot = keccak256(stringToHex('devnet.b20.lifecycle'))
const createdStage = 2n
const forkLevels: Record<B20Fork, number> = { beryl: 1, cobalt: 2, denim: 3 }

/** A variant of a fork nobody has seen yet is among them, so that tools can meet one. */
const features = ['base.b20_asset', 'base.b20_stablecoin', 'base.policy_registry', 'devnet.b20_later_variant']

const codes: readonly (readonly [Address, Hex])[] = [
  [forkSwitch, contractArtifacts.b20ForkSwitch.deployedBytecode],
  ['0x00000000000000000000000000000000000b20c0', contractArtifacts.b20Token.deployedBytecode],
  ['0x00000000000000000000000000000000000b20c1', contractArtifacts.b20Asset.deployedBytecode],
  [activationRegistry, contractArtifacts.b20ActivationRegistry.deployedBytecode],
  ['0x8453000000000000000000000000000000000002', contractArtifacts.b20PolicyRegistry.deployedBytecode],
  [b20FactoryAddress, contractArtifacts.b20Factory.deployedBytecode],
]

export function hasB20(chainId: number): boolean {
  return chainsWithB20.has(chainId)
}

/** The B20 address layout: byte 0xB2, nine zero bytes, variant, nine bytes of hash. */
export function isTokenAddress(address: unknown): address is Address {
  return typeof address === 'string' && /^0xb2(00){9}[0-9a-f]{20}$/i.test(address)
}

/** Puts the stand-in where the precompiles are on Base, also into a chain that was made before there was one. */
export async function installB20(state: ChainState): Promise<void> {
  if (!hasB20(state.chainId)) return
  const answers = await state.engine.batch(
    codes.map(([address]) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
  )
  const factoryWasThere = answers.at(-1) !== '0x'
  for (const [index, [address, code]] of codes.entries())
    if (answers[index] !== code) await change(state, 'hardhat_setCode', [address, code])
  if (factoryWasThere) return
  for (const feature of features)
    await change(state, 'hardhat_setStorageAt', [activationRegistry, featureSlot(feature), word(1n)])
  const adminSlot = word(BigInt(activationRoot) + 1n)
  await change(state, 'hardhat_setStorageAt', [
    activationRegistry,
    adminSlot,
    word(BigInt(demoIssuer(state.chainId).address)),
  ])
}

/** The state change that makes the stand-in play another fork from the next block on. */
export function forkChange(fork: B20Fork): { method: string; params: readonly unknown[] } {
  return { method: 'hardhat_setStorageAt', params: [forkSwitch, '0x0', word(BigInt(forkLevels[fork]))] }
}

/** What the real chain has at a created token: one byte that no contract can have. */
export async function tokenCode(state: ChainState, address: Address, block: unknown): Promise<Hex> {
  const stage = (await state.engine.call('eth_getStorageAt', [address, lifecycleSlot, block])) as Hex
  return BigInt(stage) === createdStage ? '0xef' : '0x'
}

export function stubChange(token: Address): { method: string; params: readonly unknown[] } {
  return { method: 'hardhat_setCode', params: [token, contractArtifacts.b20Stub.deployedBytecode] }
}

const codeMissing = keccak256(stringToHex('DevnetCodeMissing(address)')).slice(0, 10)

/** The token whose creation failed only for want of a stub at its address. */
export function missingStub(error: unknown): Address | undefined {
  const data = (error as { data?: unknown } | null)?.data
  if (!isHex(data, 36) || !data.startsWith(codeMissing)) return undefined
  const token = `0x${data.slice(-40)}` as Address
  return isTokenAddress(token) ? token : undefined
}

async function change(state: ChainState, method: string, params: readonly unknown[]): Promise<void> {
  await state.engine.call(method, params)
  record(state, { kind: 'state', method, params })
}

function featureSlot(feature: string): Hex {
  const key = keccak256(stringToHex(feature))
  return keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes32' }], [key, activationRoot]))
}

function word(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}
