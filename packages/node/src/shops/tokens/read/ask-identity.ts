import type { Address } from '@assay/protocol/address'
import {
  assetPendingSlot,
  codeMarker,
  draftRoles,
  errorSelectors,
  roles,
  type ScopeName,
  scopeNames,
  scopes,
  type selectors,
  tokenSlots,
} from '../abi/b20.ts'
import { type Known, known, unknown } from '../facts.ts'
import { variantOf } from '../token-address.ts'
import { calls } from './calls.ts'
import { Unreadable } from './pin-block.ts'
import type { Questions } from './questions.ts'
import { factOf } from './views.ts'
import { encodeWord, readBool, readUint } from './words.ts'

const plainViews: (keyof typeof selectors)[] = [
  'SEIZE_ROLE()',
  'name()',
  'symbol()',
  'decimals()',
  'totalSupply()',
  'supplyCap()',
  'contractURI()',
  'pausedFeatures()',
  'AUTHORIZED_SPENDER_ROLE()',
  'PREAUTHORIZED_SPENDER_ROLE()',
]
const assetViews: (keyof typeof selectors)[] = ['multiplier()', 'uiMultiplier()', 'newUIMultiplier()', 'effectiveAt()']

/** The first round: is it a token, of which fork, and everything that needs no candidate. */
export function askIdentity(questions: Questions, token: Address): void {
  questions.ask(calls.initialized(token))
  questions.askCode(token)
  const variant = variantOf(token)
  if (variant === 'unsupported') return
  questions.ask(calls.invertedZero())
  for (const selector of plainViews) questions.ask(calls.plain(token, selector))
  for (const scope of scopeNames) questions.ask(calls.policyOf(token, scopes[scope]))
  for (const role of [...Object.values(roles), ...Object.values(draftRoles)])
    questions.ask(calls.roleAdmin(token, role))
  // The same facts a second time, from storage: a garbled view would have to be garbled twice alike.
  for (const slot of [
    'adminCount',
    'transferPolicyIds',
    'mintPolicyIds',
    'seizePolicyIds',
    'pausedFeatures',
    'supplyCap',
    'totalSupply',
  ] as const)
    questions.askStorage(token, tokenSlots[slot])
  if (variant === 'asset') {
    questions.ask(calls.supportsScaling(token))
    for (const selector of assetViews) questions.ask(calls.plain(token, selector))
    questions.askStorage(token, assetPendingSlot)
  } else questions.ask(calls.plain(token, 'currency()'))
}

/** Created, or proven never created. Everything else is a chain that cannot be read, not a missing token. */
export function createdState(questions: Questions, token: Address): 'created' | 'not_created' {
  const initialized = questions.fact(calls.initialized(token), readBool)
  const code = questions.code(token)
  if (!initialized.known) throw new Unreadable('factory_unread', 'the factory could not be asked about this address')
  if (!code.known) throw new Unreadable('code_unread', 'the code at this address could not be read')
  if (initialized.value && code.value === codeMarker) return 'created'
  if (!initialized.value && code.value === '0x') return 'not_created'
  throw new Unreadable('integrity', 'the factory and the code at this address contradict each other')
}

const scopeSlots: Record<ScopeName, { slot: keyof typeof tokenSlots; shift: bigint }> = {
  TRANSFER_SENDER_POLICY: { slot: 'transferPolicyIds', shift: 0n },
  TRANSFER_RECEIVER_POLICY: { slot: 'transferPolicyIds', shift: 64n },
  TRANSFER_EXECUTOR_POLICY: { slot: 'transferPolicyIds', shift: 128n },
  MINT_RECEIVER_POLICY: { slot: 'mintPolicyIds', shift: 0n },
  SEIZE_EXEMPT_POLICY: { slot: 'seizePolicyIds', shift: 0n },
  SEIZE_RECEIVER_POLICY: { slot: 'seizePolicyIds', shift: 64n },
}

/** The policy of each scope, view and storage agreeing; undefined for a scope this fork refuses by name. */
export function readScopes(questions: Questions, token: Address): Record<ScopeName, Known<bigint> | undefined> {
  const found = {} as Record<ScopeName, Known<bigint> | undefined>
  for (const name of scopeNames) found[name] = readScope(questions, token, name)
  return found
}

function readScope(questions: Questions, token: Address, name: ScopeName): Known<bigint> | undefined {
  const view = questions.view(calls.policyOf(token, scopes[name]))
  const refusal = `${errorSelectors['UnsupportedPolicyType(bytes32)']}${encodeWord(scopes[name])}`
  if (view?.status === 'reverted' && view.data === refusal && name.startsWith('SEIZE_')) return undefined
  const { slot, shift } = scopeSlots[name]
  const stored = questions.storage(token, tokenSlots[slot])
  return both(
    factOf(view, (data) => readUint(data, 64)),
    stored.known ? known((BigInt(stored.value) >> shift) & 0xffff_ffff_ffff_ffffn) : stored,
  )
}

/** A fact read in two ways is known only if both give the same. */
export function both<T>(first: Known<T>, second: Known<T>): Known<T> {
  if (!first.known) return first
  if (!second.known) return second
  return first.value === second.value ? first : unknown('integrity')
}
