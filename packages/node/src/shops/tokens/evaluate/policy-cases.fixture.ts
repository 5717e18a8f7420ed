import { alwaysBlockId, invertBit } from '../abi/b20.ts'
import { known, unknown } from '../facts.ts'
import { alice, bob, type Changes, carol, policyWith } from './facts.fixture.ts'

const block = 2n
const allow = (1n << 56n) | 3n
const union = (2n << 56n) | 4n
const intersect = (3n << 56n) | 5n
/** Of a type byte that no fork has. */
const strange = (9n << 56n) | 6n

/** What bound policies let somebody do. */
export const policyCases: Record<string, Changes> = {
  'a freezer who is the admin': {
    holders: { DEFAULT_ADMIN_ROLE: [alice] },
    scopes: { TRANSFER_SENDER_POLICY: known(block) },
    policies: [policyWith(block, { admin: known(alice), members: [bob] })],
  },
  'a freezer of another operator': {
    holders: { DEFAULT_ADMIN_ROLE: [alice] },
    scopes: { TRANSFER_RECEIVER_POLICY: known(block) },
    policies: [policyWith(block, { admin: known(bob), pendingAdmin: known(carol) })],
  },
  'a list that nobody can change': {
    scopes: { TRANSFER_EXECUTOR_POLICY: known(allow) },
    policies: [policyWith(allow, { members: [alice] })],
  },
  'transfers denied to all, for good': { scopes: { TRANSFER_SENDER_POLICY: known(alwaysBlockId) } },
  'transfers denied to all by an admin': {
    holders: { DEFAULT_ADMIN_ROLE: [alice] },
    scopes: { TRANSFER_SENDER_POLICY: known(alwaysBlockId) },
  },
  'transfers denied to all by inversion': { scopes: { TRANSFER_RECEIVER_POLICY: known(invertBit) } },
  'the inverse of denying all': { scopes: { TRANSFER_RECEIVER_POLICY: known(alwaysBlockId | invertBit) } },
  'frozen through a combination': {
    scopes: { TRANSFER_SENDER_POLICY: known(intersect) },
    policies: [
      policyWith(intersect, { children: known([block, allow, block | invertBit]) }),
      policyWith(block, { members: [alice, bob] }),
      policyWith(allow, { members: [carol] }),
    ],
  },
  'members of an inverted list are not frozen': {
    scopes: {
      TRANSFER_SENDER_POLICY: known(block | invertBit),
      TRANSFER_RECEIVER_POLICY: known(intersect | invertBit),
      TRANSFER_EXECUTOR_POLICY: known(union),
    },
    policies: [
      policyWith(block, { members: [alice] }),
      policyWith(intersect, { children: known([block]) }),
      policyWith(union, { children: known([block]) }),
    ],
  },
  'one account frozen twice is one': {
    scopes: { TRANSFER_SENDER_POLICY: known(block), TRANSFER_RECEIVER_POLICY: known(block) },
    policies: [policyWith(block, { members: [alice] })],
  },
  'a mint list that somebody governs': {
    scopes: { MINT_RECEIVER_POLICY: known(block) },
    policies: [policyWith(block, { admin: known(bob) })],
  },
  'a policy that does not exist': {
    scopes: { TRANSFER_SENDER_POLICY: known(block) },
    policies: [policyWith(block, { exists: known(false) })],
  },
  'a policy whose admin is unread': {
    scopes: { TRANSFER_SENDER_POLICY: known(block) },
    policies: [policyWith(block, { admin: unknown('unread') })],
  },
  'a policy whose next admin is unread': {
    scopes: { TRANSFER_SENDER_POLICY: known(block) },
    policies: [policyWith(block, { pendingAdmin: unknown('unread') })],
  },
  'a policy whose children are unread': {
    scopes: { TRANSFER_SENDER_POLICY: known(union) },
    policies: [policyWith(union, { children: unknown('unread') })],
  },
  'a policy whose being there is unread': {
    scopes: { TRANSFER_SENDER_POLICY: known(block) },
    policies: [policyWith(block, { exists: unknown('unread'), admin: known(bob) })],
  },
  'a policy of a later kind': {
    scopes: { TRANSFER_SENDER_POLICY: known(strange) },
    policies: [policyWith(strange, { admin: known(bob) })],
  },
  'a policy of a later kind, without an admin': {
    scopes: { TRANSFER_SENDER_POLICY: known(strange) },
    policies: [policyWith(strange)],
  },
}
