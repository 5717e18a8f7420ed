import { zeroAddress } from '@assay/protocol/address'
import { alwaysBlockId, invertBit, noSupplyCap } from '../abi/b20.ts'
import { known, unknown } from '../facts.ts'
import { alice, bob, type Changes, carol, dead, policyWith } from './facts.fixture.ts'

const block = 2n
const allow = (1n << 56n) | 3n
const union = (2n << 56n) | 4n

/** A chain of a fork that has no seizing. */
const beforeSeizing: Changes = {
  fork: {
    ...{ fork: known('beryl'), seizeRole: 'no', invertedPolicyId: 'no', scheduled: 'beryl' },
    ...{ mismatch: false, unreviewed: false },
  },
  scopes: { SEIZE_EXEMPT_POLICY: undefined, SEIZE_RECEIVER_POLICY: undefined },
}

/** Who holds roles and what they can do with them. */
export const roleCases: Record<string, Changes> = {
  'nobody controls it': {},
  'one admin with one key': { holders: { DEFAULT_ADMIN_ROLE: [alice] }, accounts: [[alice, { kind: 'eoa' }]] },
  'two admins, one of them a contract': {
    holders: { DEFAULT_ADMIN_ROLE: [alice, bob] },
    accounts: [
      [alice, { kind: 'eoa' }],
      [bob, { kind: 'contract' }],
    ],
  },
  'the admin role at address zero': { holders: { DEFAULT_ADMIN_ROLE: [zeroAddress] } },
  'an admin nobody has the key of': {
    holders: { DEFAULT_ADMIN_ROLE: [dead] },
    accounts: [[dead, { kind: 'presumed_dead' }]],
  },
  'a minter without an admin': { holders: { MINT_ROLE: [alice] } },
  'a minter who is presumed dead, without an admin': {
    holders: { MINT_ROLE: [dead] },
    accounts: [[dead, { kind: 'presumed_dead' }]],
  },
  'a minter under a cap': { holders: { MINT_ROLE: [alice] }, supplyCap: known(2_000_000n) },
  'a minter at the cap': { holders: { MINT_ROLE: [alice] }, supplyCap: known(1_000_000n) },
  'a minter before the first token': {
    holders: { MINT_ROLE: [alice] },
    totalSupply: known(0n),
    minted: known(false),
  },
  'a minter while minting is paused': { holders: { MINT_ROLE: [alice] }, paused: known([1]) },
  'a minter while minting is paused and can be resumed': {
    holders: { MINT_ROLE: [alice], UNPAUSE_ROLE: [bob] },
    paused: known([1]),
  },
  'a minter whom no receiver may be given to': {
    holders: { MINT_ROLE: [alice] },
    scopes: { MINT_RECEIVER_POLICY: known(alwaysBlockId) },
  },
  'a minter beside an admin': { holders: { DEFAULT_ADMIN_ROLE: [alice], MINT_ROLE: [bob] } },
  'an unread cap': { supplyCap: unknown('reverted') },
  'a cap that cannot be': { supplyCap: known(noSupplyCap + 1n) },
  'a seizer and an open scope, with an admin': { holders: { DEFAULT_ADMIN_ROLE: [alice], SEIZE_ROLE: [bob] } },
  'a seizer where nobody is exempt': {
    holders: { SEIZE_ROLE: [bob] },
    scopes: { SEIZE_EXEMPT_POLICY: known(alwaysBlockId) },
  },
  'a seizer where those on a list are exempt': {
    holders: { SEIZE_ROLE: [bob] },
    scopes: { SEIZE_EXEMPT_POLICY: known(allow) },
    policies: [policyWith(allow, { members: [alice] })],
  },
  'a seizer where those not on a list are exempt': {
    holders: { SEIZE_ROLE: [bob] },
    scopes: { SEIZE_EXEMPT_POLICY: known(block) },
    policies: [policyWith(block, { admin: known(carol) })],
  },
  'a seizer where an inverted blocklist exempts': {
    holders: { SEIZE_ROLE: [bob] },
    scopes: { SEIZE_EXEMPT_POLICY: known(block | invertBit) },
    policies: [policyWith(block)],
  },
  'a seizer where an inverted allowlist exempts': {
    holders: { SEIZE_ROLE: [bob] },
    scopes: { SEIZE_EXEMPT_POLICY: known(allow | invertBit) },
    policies: [policyWith(allow)],
  },
  'a seizer under a combined policy': {
    holders: { SEIZE_ROLE: [bob] },
    scopes: { SEIZE_EXEMPT_POLICY: known(union) },
    policies: [policyWith(union, { children: known([block, allow]) }), policyWith(block), policyWith(allow)],
  },
  'a seizer with nowhere to move tokens to': {
    holders: { SEIZE_ROLE: [bob] },
    scopes: { SEIZE_EXEMPT_POLICY: known(alwaysBlockId), SEIZE_RECEIVER_POLICY: known(alwaysBlockId) },
  },
  'a seizer while seizing is paused': {
    holders: { SEIZE_ROLE: [bob] },
    scopes: { SEIZE_EXEMPT_POLICY: known(alwaysBlockId) },
    paused: known([3]),
  },
  'a seizer under an unread scope': {
    holders: { SEIZE_ROLE: [bob] },
    scopes: { SEIZE_EXEMPT_POLICY: unknown('garbled') },
  },
  'seized before, and never again': { events: [{ kind: 'seized', caller: bob, from: alice, to: bob, amount: 1n }] },
  'seized twice, and again': {
    holders: { SEIZE_ROLE: [bob] },
    scopes: { SEIZE_EXEMPT_POLICY: known(alwaysBlockId) },
    events: [
      { kind: 'seized', caller: bob, from: alice, to: bob, amount: 1n },
      { kind: 'seized', caller: bob, from: alice, to: bob, amount: 2n },
    ],
  },
  'a seizer before the fork that lets them': {
    holders: { SEIZE_ROLE: [bob] },
    ...beforeSeizing,
  },
  'a scope refused by a fork that has it': { scopes: { SEIZE_EXEMPT_POLICY: undefined } },
  'blocked tokens can be burned': {
    holders: { BURN_BLOCKED_ROLE: [bob] },
    scopes: { TRANSFER_SENDER_POLICY: known(block) },
    policies: [policyWith(block, { admin: known(carol), members: [alice, bob] })],
    events: [{ kind: 'burned_blocked', caller: bob, from: alice, amount: 1n }],
  },
  'a burner while burning is paused': {
    holders: { BURN_BLOCKED_ROLE: [bob] },
    scopes: { TRANSFER_SENDER_POLICY: known(block) },
    policies: [policyWith(block)],
    paused: known([2]),
  },
  'a burner with nobody to block': { holders: { BURN_BLOCKED_ROLE: [bob] } },
  'a minter under an unread cap': { holders: { MINT_ROLE: [alice] }, supplyCap: unknown('unread') },
  'a minter while minting is paused and nobody knows who resumes it': {
    holders: { MINT_ROLE: [alice] },
    unreadPairs: { UNPAUSE_ROLE: [bob] },
    paused: known([1]),
  },
  'a seizer under a policy that does not exist': {
    holders: { SEIZE_ROLE: [bob] },
    scopes: { SEIZE_EXEMPT_POLICY: known(block) },
    policies: [policyWith(block, { exists: known(false) })],
  },
  'a fork without seizing, and nobody who could': {
    ...beforeSeizing,
  },
}
