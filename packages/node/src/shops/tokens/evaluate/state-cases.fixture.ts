import { zeroAddress } from '@assay/protocol/address'
import { adminRole, factoryAddress, roles, scopes, wad } from '../abi/b20.ts'
import { known, unknown } from '../facts.ts'
import { alice, bob, type Changes, dead } from './facts.fixture.ts'

/** Pauses, texts, multipliers, and everything that can be missing. */
export const stateCases: Record<string, Changes> = {
  'a pauser without an unpauser': { holders: { PAUSE_ROLE: [alice] } },
  'a pauser and an unpauser': {
    holders: { PAUSE_ROLE: [alice], UNPAUSE_ROLE: [bob] },
    events: [
      { kind: 'paused', updater: alice, features: [0] },
      { kind: 'unpaused', updater: bob, features: [0] },
      { kind: 'paused', updater: alice, features: [0] },
    ],
  },
  'an admin who could pause and unpause': { holders: { DEFAULT_ADMIN_ROLE: [alice] } },
  'transfers paused for ever': { paused: known([0]) },
  'burning paused, and an unpauser': { holders: { UNPAUSE_ROLE: [bob] }, paused: known([2]) },
  'an unread pause': { holders: { MINT_ROLE: [alice] }, paused: unknown('disagreement') },
  'a pause of something new': { paused: known([7]) },
  'a name that can be changed': {
    holders: { METADATA_ROLE: [alice] },
    events: [
      { kind: 'name_updated', updater: alice, text: 'x' },
      { kind: 'symbol_updated', updater: alice, text: 'x' },
      { kind: 'contract_uri_updated' },
    ],
  },
  'a name with invisible letters': { name: known('US\u200bDC'), contractUri: known('\u202e') },
  'a symbol that turns around': { symbol: known('\u202eCDSU') },
  'an operator of the multiplier': {
    holders: { OPERATOR_ROLE: [alice] },
    events: [
      { kind: 'multiplier_updated', value: 1n },
      { kind: 'ui_multiplier_updated', oldValue: 1n, newValue: 2n, effectiveAt: 3n },
      { kind: 'ui_multiplier_cancelled', value: 1n, effectiveAt: 3n },
    ],
  },
  'an operator of a stablecoin': {
    variant: 'stablecoin',
    currency: known('USD'),
    multiplier: undefined,
    holders: { OPERATOR_ROLE: [alice] },
  },
  'a stablecoin that nobody controls': { variant: 'stablecoin', currency: known('USD'), multiplier: undefined },
  'an unread currency': { variant: 'stablecoin', currency: unknown('unread'), multiplier: undefined },
  'a multiplier that will change': {
    multiplier: known({ current: wad, pending: { value: (wad * 3n) / 2n, effectiveAt: 1_800_000_000 } }),
  },
  'an unread multiplier': { multiplier: unknown('unread') },
  'unread texts': {
    name: unknown('unread'),
    symbol: unknown('unread'),
    decimals: unknown('unread'),
    contractUri: unknown('unread'),
  },
  'an unread number of admins': { adminCount: unknown('unread') },
  'an admin who is not known': { adminCount: known(1n) },
  'a creation that was not found': { genesis: undefined },
  'a gap in the logs': {
    logs: { fromBlock: 1n, toBlock: 9n, count: 0, gaps: [{ fromBlock: 2n, toBlock: 3n, reason: 'unread' }] },
  },
  'logs against views': { contradictions: [{ code: 'cap_differs', detail: 'x' }] },
  'a fork that cannot be determined': {
    fork: {
      fork: unknown('unread'),
      seizeRole: '?',
      invertedPolicyId: '?',
      scheduled: undefined,
      mismatch: false,
      unreviewed: false,
    },
  },
  'another fork than scheduled': {
    fork: {
      fork: known('denim'),
      seizeRole: 'yes',
      invertedPolicyId: 'yes',
      scheduled: 'cobalt',
      mismatch: true,
      unreviewed: true,
    },
  },
  'a role nobody has reviewed': { unreviewedRoles: ['SOME_ROLE'] },
  'a role whose admin is unread': {
    holders: { DEFAULT_ADMIN_ROLE: [zeroAddress] },
    roleAdmins: { MINT_ROLE: unknown('unread') },
  },
  'possible holders that were not tested': { unreadPairs: { MINT_ROLE: [alice] } },
  'a minting role under the pausers': {
    holders: { DEFAULT_ADMIN_ROLE: [zeroAddress], PAUSE_ROLE: [bob] },
    roleAdmins: { MINT_ROLE: known(roles.PAUSE_ROLE) },
  },
  'an admin role under the pausers': {
    holders: { DEFAULT_ADMIN_ROLE: [zeroAddress], PAUSE_ROLE: [bob] },
    roleAdmins: { DEFAULT_ADMIN_ROLE: known(roles.PAUSE_ROLE) },
  },
  'an admin role under the pausers, without any admin': {
    holders: { PAUSE_ROLE: [bob] },
    roleAdmins: { DEFAULT_ADMIN_ROLE: known(roles.PAUSE_ROLE) },
  },
  'a role that is its own admin and held': {
    holders: { DEFAULT_ADMIN_ROLE: [zeroAddress], MINT_ROLE: [bob] },
    roleAdmins: { MINT_ROLE: known(roles.MINT_ROLE) },
  },
  'a role that is its own admin and retired': {
    holders: { DEFAULT_ADMIN_ROLE: [zeroAddress] },
    roleAdmins: { MINT_ROLE: known(roles.MINT_ROLE) },
  },
  'an admin at work': {
    holders: { DEFAULT_ADMIN_ROLE: [alice] },
    events: [
      { kind: 'supply_cap_updated', updater: alice, oldCap: 1n, newCap: 2n },
      { kind: 'supply_cap_updated', updater: alice, oldCap: 1n, newCap: 3n },
      { kind: 'supply_cap_updated', updater: factoryAddress, oldCap: 1n, newCap: 2n },
      { kind: 'role_granted', role: adminRole, account: bob, sender: alice },
      { kind: 'role_revoked', role: adminRole, account: bob, sender: alice },
      { kind: 'role_granted', role: adminRole, account: alice, sender: factoryAddress },

      { kind: 'policy_updated', scope: scopes.SEIZE_EXEMPT_POLICY, oldId: 0n, newId: 0n },
    ],
  },
  'a variant nobody has reviewed': { variant: 'unsupported', variantByte: 9, holders: { DEFAULT_ADMIN_ROLE: [alice] } },
  'a pauser who is presumed dead': { holders: { PAUSE_ROLE: [dead] }, accounts: [[dead, { kind: 'presumed_dead' }]] },
}
