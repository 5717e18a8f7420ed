import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { type Abi, parseAbi } from 'viem'
import facts from './b20-abi.json' with { type: 'json' }

/** Names, hashes, addresses and slots of B20, taken from the table of facts and never typed again. */
const lower = <T extends string>(text: T) => text.toLowerCase() as Lowercase<T>

export type Fork = 'beryl' | 'cobalt' | 'denim'
export const forkOrder: readonly Fork[] = ['beryl', 'cobalt', 'denim']

export const factoryAddress = lower(facts.addresses.B20Factory) as Address
export const policyRegistryAddress = lower(facts.addresses.PolicyRegistry) as Address
export const activationRegistryAddress = lower(facts.addresses.ActivationRegistry) as Address

export type RoleName = keyof typeof facts.roles
export type ScopeName = keyof typeof facts.scopes
export const roles = facts.roles as Record<RoleName, Hex>
export const roleNames = Object.keys(facts.roles) as RoleName[]
export const scopes = facts.scopes as Record<ScopeName, Hex>
export const scopeNames = Object.keys(facts.scopes) as ScopeName[]
export const adminRole = roles.DEFAULT_ADMIN_ROLE
/** Roles of drafts: without effect as far as anybody knows, but shown when somebody holds one. */
export const draftRoles = facts.notOnMainnet.roles as Record<string, Hex>

const roleNameByHash = new Map<string, string>([
  ...Object.entries(roles).map(([name, hash]) => [hash, name] as const),
  ...Object.entries(draftRoles).map(([name, hash]) => [hash, `${name} (draft)`] as const),
])

/** The name of a role, or its hash where nobody has named it. */
export function roleLabel(role: Hex): string {
  return roleNameByHash.get(role) ?? role
}

export const tokenSlots = facts.storage.token.slots as Record<keyof typeof facts.storage.token.slots, Hex>
export const assetPendingSlot = facts.storage.asset.slots.pending as Hex
export const codeMarker = facts.constants.codeMarker as Hex
export const noSupplyCap = BigInt(facts.constants.noSupplyCap)
export const wad = BigInt(facts.constants.wad)
export const alwaysBlockId = BigInt(facts.constants.alwaysBlockPolicyId)
export const invertBit = BigInt(facts.constants.invertedPolicyBit)
export const pausableFeatures: readonly string[] = facts.enums.PausableFeature

export const selectors = {
  ...facts.selectors,
  ...facts.notOnMainnet.selectors,
} as Record<keyof typeof facts.selectors | keyof typeof facts.notOnMainnet.selectors, Hex>
export const errorSelectors = facts.errorSelectors as Record<keyof typeof facts.errorSelectors, Hex>
export const topicHashes = facts.topics as Record<keyof typeof facts.topics, Hex>

/** When each fork came to a network. Embedded chains have no such table: there the probes alone decide. */
export function forkTimes(chainId: number): Record<Fork, number> | undefined {
  if (chainId === facts.forks.baseMainnet.chainId) return facts.forks.baseMainnet.timestamps
  if (chainId === facts.forks.baseSepolia.chainId) return facts.forks.baseSepolia.timestamps
  return undefined
}

type Surface = Record<string, Record<string, readonly string[]>>

function allOf(surface: Surface, names: readonly string[]): string[] {
  const lines = names.flatMap((name) => Object.values(surface[name] ?? {}).flat())
  // Interfaces repeat errors of one another; viem wants each signature once.
  return [...new Set(lines)]
}

const tokenInterfaces = ['IB20', 'IB20Asset', 'IB20Stablecoin']

export const tokenAbi = parseAbi([
  ...allOf(facts.functions, tokenInterfaces),
  ...allOf(facts.events, tokenInterfaces),
  ...allOf(facts.errors, tokenInterfaces),
]) as Abi
export const factoryAbi = parseAbi([
  ...allOf(facts.functions, ['IB20Factory']),
  ...allOf(facts.events, ['IB20Factory']),
  ...allOf(facts.errors, ['IB20Factory']),
]) as Abi
export const registryAbi = parseAbi([
  ...allOf(facts.functions, ['IPolicyRegistry']),
  ...allOf(facts.events, ['IPolicyRegistry']),
  ...allOf(facts.errors, ['IPolicyRegistry']),
]) as Abi

export const createParams = facts.structs
