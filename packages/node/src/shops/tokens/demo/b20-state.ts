import type { Address } from '@assay/protocol/address'
import { type Hex, isHex } from '@assay/protocol/bytes'
import { demoIssuer, type RpcRequest } from '@assay/till/devnet'
import { encodeAbiParameters, keccak256, stringToHex } from 'viem'
import activationRegistry from '../../../../../../contracts/artifacts/B20ActivationRegistry.json' with { type: 'json' }
import asset from '../../../../../../contracts/artifacts/B20Asset.json' with { type: 'json' }
import factory from '../../../../../../contracts/artifacts/B20Factory.json' with { type: 'json' }
import forkSwitch from '../../../../../../contracts/artifacts/B20ForkSwitch.json' with { type: 'json' }
import policyRegistry from '../../../../../../contracts/artifacts/B20PolicyRegistry.json' with { type: 'json' }
import stub from '../../../../../../contracts/artifacts/B20Stub.json' with { type: 'json' }
import token from '../../../../../../contracts/artifacts/B20Token.json' with { type: 'json' }
import { activationRegistryAddress, codeMarker, factoryAddress, policyRegistryAddress } from '../abi/b20.ts'
import { encodeWord } from '../read/words.ts'
import { hasTokenPrefix } from '../token-address.ts'

export type B20Fork = 'beryl' | 'cobalt' | 'denim'

const forkSwitchAddress: Address = '0x00000000000000000000000000000000000b20f0'
const activationRoot: Hex = '0x43ee1bbe25e988521cccd8b2c8fbd38c8287ebff8e074e825a70dfd3885cce00'
const lifecycleSlot = keccak256(stringToHex('devnet.b20.lifecycle'))
const createdStage = 2n
const forkLevels: Record<B20Fork, number> = { beryl: 1, cobalt: 2, denim: 3 }

/** A variant of a fork nobody has seen yet is among them, so that tools can meet one. */
const features = ['base.b20_asset', 'base.b20_stablecoin', 'base.policy_registry', 'devnet.b20_later_variant']

const codes: readonly (readonly [Address, string])[] = [
  [forkSwitchAddress, forkSwitch.deployedBytecode],
  ['0x00000000000000000000000000000000000b20c0', token.deployedBytecode],
  ['0x00000000000000000000000000000000000b20c1', asset.deployedBytecode],
  [activationRegistryAddress, activationRegistry.deployedBytecode],
  [policyRegistryAddress, policyRegistry.deployedBytecode],
  [factoryAddress, factory.deployedBytecode],
]

/** Puts the stand-in where the precompiles are on Base, also into a chain that was made before there was one. */
export async function installB20(request: RpcRequest, chainId: number): Promise<void> {
  const found = await Promise.all(codes.map(([address]) => request('eth_getCode', [address, 'latest'])))
  const missing = codes.filter(([, code], index) => found[index] !== code)
  const setCodes = missing.map(([address, code]) => request('hardhat_setCode', [address, code]))
  const factoryWasThere = found.at(-1) !== '0x'
  const setSlots = factoryWasThere ? [] : firstSlots(chainId).map((slot) => request('hardhat_setStorageAt', slot))
  await Promise.all([...setCodes, ...setSlots])
}

const firstSlots = (chainId: number): readonly unknown[][] => [
  ...features.map((feature) => [activationRegistryAddress, featureSlot(feature), word(1n)]),
  [activationRegistryAddress, word(BigInt(activationRoot) + 1n), word(BigInt(demoIssuer(chainId).address))],
]

/** Makes the stand-in play another fork from the next block on. */
export async function setB20Fork(request: RpcRequest, fork: B20Fork): Promise<void> {
  await request('hardhat_setStorageAt', [forkSwitchAddress, '0x0', word(BigInt(forkLevels[fork]))])
  await request('devnet_mine')
}

/** What the real chain has at a created token: one byte that no contract can have. */
export async function tokenCode(request: RpcRequest, address: Address, block: unknown): Promise<string> {
  const stage = (await request('eth_getStorageAt', [address, lifecycleSlot, block])) as Hex
  return BigInt(stage) === createdStage ? codeMarker : '0x'
}

export async function placeStub(request: RpcRequest, address: Address): Promise<void> {
  await request('hardhat_setCode', [address, stub.deployedBytecode])
}

const codeMissing = keccak256(stringToHex('DevnetCodeMissing(address)')).slice(0, 10)

/** The token whose creation failed only for want of a stub at its address. */
export function missingStub(error: unknown): Address | undefined {
  const data = (error as { data?: unknown } | null)?.data
  if (!isHex(data, 36) || !data.startsWith(codeMissing)) return undefined
  const address = `0x${data.slice(-40)}` as Address
  return hasTokenPrefix(address) ? address : undefined
}

function featureSlot(feature: string): Hex {
  const key = keccak256(stringToHex(feature))
  return keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'bytes32' }], [key, activationRoot]))
}

const word = (value: bigint): Hex => `0x${encodeWord(value)}`
