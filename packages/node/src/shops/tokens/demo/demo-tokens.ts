import { type Address, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { demoAccount, demoIssuer } from '@assay/till/devnet'
import { encodeAbiParameters, encodeFunctionData, keccak256, parseAbiParameters, stringToHex } from 'viem'
import { createParams, roles, scopes, tokenAbi, wad } from '../abi/b20.ts'
import { tokenAddressOf } from '../read/read-genesis.ts'

/** Policies the demo tokens follow, by name; their ids are given by the registry. */
export type DemoPolicies = Record<'exempt' | 'blocked' | 'admitted' | 'composite' | 'sanctions', bigint>

export type DemoToken = {
  key: string
  what: string
  variant: 0 | 1 | 2
  name: string
  symbol: string
  admin: Address
  /** Everything that shapes the token, run in its creation: it is there whole or not at all. */
  initCalls(policies: DemoPolicies, nowSeconds: number): Hex[]
}

const creator = demoAccount('creator').address
const affiliate = demoAccount('affiliate').address
const custody = demoAccount('custody').address
const buyer = demoAccount('buyer').address

const call = (functionName: string, ...args: unknown[]): Hex =>
  encodeFunctionData({ abi: tokenAbi, functionName, args })
const grant = (role: Hex, account: Address) => call('grantRole', role, account)
const mint = (account: Address, whole: bigint) => call('mint', account, whole * 10n ** 6n)
const bind = (scope: Hex, id: bigint) => call('updatePolicy', scope, id)
const metadataAdmins = keccak256(stringToHex('METADATA_MANAGERS'))
const yearSeconds = 365 * 86_400

type Plan = Omit<DemoToken, 'admin' | 'initCalls'> & {
  hasAdmin?: true
  initCalls(policies: DemoPolicies, nowSeconds: number, issuer: Address): Hex[]
}

/** Tokens that differ in who controls them, so that a newcomer sees every verdict. All of them are made up. */
const plans: readonly Plan[] = [
  {
    key: 'locked',
    what: 'LOCKED: launched without an admin, supply fixed, nobody can do anything',
    variant: 0,
    name: 'Demo Locked',
    symbol: 'dLOCK',
    initCalls: () => [mint(buyer, 1_000_000n)],
  },
  {
    key: 'mintable',
    what: 'PARTIALLY_CONTROLLED: no admin, but a minter that can never be removed',
    variant: 0,
    name: 'Demo Adminless Mintable',
    symbol: 'dMINT',
    initCalls: () => [
      call('updateSupplyCap', 10_000_000n * 10n ** 6n),
      grant(roles.MINT_ROLE, creator),
      mint(buyer, 1_000n),
    ],
  },
  {
    key: 'seizable',
    what: 'ISSUER_CONTROLLED: tokens can be seized from everybody who is not on an allowlist; it has happened',
    variant: 0,
    name: 'Demo Seizable',
    symbol: 'dSEIZE',
    hasAdmin: true,
    initCalls: (policies, _nowSeconds, issuer) => [
      grant(roles.SEIZE_ROLE, issuer),
      bind(scopes.SEIZE_EXEMPT_POLICY, policies.exempt),
      mint(affiliate, 500n),
      mint(buyer, 500n),
    ],
  },
  {
    key: 'composite',
    what: 'PARTIALLY_CONTROLLED: no admin, but a composite policy of third parties freezes accounts',
    variant: 0,
    name: 'Demo Composite Freeze',
    symbol: 'dCOMP',
    initCalls: (policies) => [mint(buyer, 5_000n), bind(scopes.TRANSFER_SENDER_POLICY, policies.composite)],
  },
  {
    key: 'zero-admin',
    what: 'PARTIALLY_CONTROLLED: the admin was handed to address zero, a custom role can still rename the token',
    variant: 0,
    name: 'Demo Admin At Zero',
    symbol: 'dZERO',
    hasAdmin: true,
    initCalls: (_policies, _nowSeconds, issuer) => [
      mint(buyer, 2_000n),
      call('setRoleAdmin', roles.METADATA_ROLE, metadataAdmins),
      grant(metadataAdmins, creator),
      grant(roles.DEFAULT_ADMIN_ROLE, zeroAddress),
      call('revokeRole', roles.DEFAULT_ADMIN_ROLE, issuer),
    ],
  },
  {
    key: 'pauser',
    what: 'PARTIALLY_CONTROLLED: somebody can pause, nobody could ever lift it',
    variant: 0,
    name: 'Demo Pauser Only',
    symbol: 'dPAUSE',
    initCalls: () => [grant(roles.PAUSE_ROLE, custody), mint(buyer, 3_000n)],
  },
  {
    key: 'stablecoin',
    what: 'ISSUER_CONTROLLED: a stablecoin with minter, blocklist, burning of blocked tokens, pause and unpause',
    variant: 1,
    name: 'Demo Dollar',
    symbol: 'dUSD',
    hasAdmin: true,
    initCalls: (policies, _nowSeconds, issuer) => [
      grant(roles.MINT_ROLE, creator),
      grant(roles.BURN_BLOCKED_ROLE, custody),
      grant(roles.PAUSE_ROLE, custody),
      grant(roles.UNPAUSE_ROLE, issuer),
      bind(scopes.TRANSFER_SENDER_POLICY, policies.sanctions),
      bind(scopes.TRANSFER_RECEIVER_POLICY, policies.sanctions),
      mint(buyer, 250_000n),
    ],
  },
  {
    key: 'multiplier',
    what: 'ISSUER_CONTROLLED: displayed amounts are set to double at a fixed time',
    variant: 0,
    name: 'Demo Scheduled Split',
    symbol: 'dSPLIT',
    hasAdmin: true,
    initCalls: (_policies, nowSeconds, issuer) => [
      grant(roles.OPERATOR_ROLE, issuer),
      mint(buyer, 100n),
      call('updateUIMultiplier', 2n * wad, BigInt(nowSeconds + yearSeconds)),
    ],
  },
  {
    key: 'later-variant',
    what: 'UNKNOWN: a variant of some later fork, about which nothing can be said',
    variant: 2,
    name: 'Demo Later Variant',
    symbol: 'dNEXT',
    initCalls: () => [mint(buyer, 1n)],
  },
]

export function demoTokens(chainId: number): DemoToken[] {
  const issuer = demoIssuer(chainId).address
  return plans.map(({ hasAdmin, initCalls, ...plan }) => ({
    ...plan,
    admin: hasAdmin ? issuer : zeroAddress,
    initCalls: (policies, nowSeconds) => initCalls(policies, nowSeconds, issuer),
  }))
}

const saltOf = (key: string) => keccak256(stringToHex(`assay demo token ${key}`))

export function demoTokenAddress(chainId: number, token: Pick<DemoToken, 'key' | 'variant'>): Address {
  return tokenAddressOf(token.variant, demoIssuer(chainId).address, saltOf(token.key))
}

/** Arguments of createB20. */
export function creationArguments(token: DemoToken, policies: DemoPolicies, nowSeconds: number) {
  const stablecoin = token.variant === 1
  const shape = stablecoin ? createParams.B20StablecoinCreateParams : createParams.B20AssetCreateParams
  const common = { version: 1, name: token.name, symbol: token.symbol, initialAdmin: token.admin }
  const params = encodeAbiParameters(parseAbiParameters(shape), [
    { ...common, ...(stablecoin ? { currency: 'USD' } : { decimals: 6 }) },
  ] as never)
  return [token.variant, saltOf(token.key), params, token.initCalls(policies, nowSeconds)] as const
}
