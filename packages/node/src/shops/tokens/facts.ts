import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Fork, ScopeName } from './abi/b20.ts'
import type { ControlEvent } from './read/decode-events.ts'
import type { PolicyEvent } from './read/decode-policy-events.ts'
import type { TokenVariant } from './token-address.ts'

/** Why a fact is not known. Every one of them blocks a clean answer. */
export type UnknownReason =
  | 'unread'
  | 'disagreement'
  | 'empty_answer'
  | 'garbled'
  | 'reverted'
  | 'integrity'
  | 'not_asked'

/** A fact is known or it is not; "not known" never turns into zero, false or an empty list. */
export type Known<T> = { known: true; value: T } | { known: false; reason: UnknownReason }

export const known = <T>(value: T): Known<T> => ({ known: true, value })
export const unknown = <T>(reason: UnknownReason): Known<T> => ({ known: false, reason })

export type PinnedBlock = { number: bigint; hash: Hex; timestamp: number; stateRoot: Hex }

export type AccountLabel =
  | { kind: 'zero' | 'presumed_dead' | 'eoa' | 'token' | 'contract' | 'factory' | 'registry' }
  | { kind: 'delegated_eoa'; delegate: Address }
  | { kind: 'safe'; threshold: number; owners: readonly Address[] }

export type PolicyFacts = {
  /** Without the inversion flag. */
  id: bigint
  exists: Known<boolean>
  admin: Known<Address>
  pendingAdmin: Known<Address>
  /** Composite policies only; verbatim, with their own flags. */
  children: Known<readonly bigint[]>
  /** Simple policies only: accounts that logs named and that no view denied; a report has asked about all of them. */
  members: readonly Address[]
  /** The logs of the list are whole, and no view says otherwise. */
  membersComplete: boolean
}

export type Holder = {
  account: Address
  /** The log that gave the candidate; the view confirmed it. */
  granted?: { blockNumber: bigint; transaction: Hex; logIndex: number; sender: Address }
}

export type RoleFacts = {
  role: Hex
  admin: Known<Hex>
  /** Confirmed by hasRole at the pinned block. */
  holders: readonly Holder[]
  /** Pairs whose view could not be read: each may be a holder. */
  unreadPairs: readonly Address[]
}

export type Multiplier = { current: bigint; pending?: { value: bigint; effectiveAt: number } }

export type Genesis = {
  blockNumber: bigint
  transaction: Hex
  /** Undefined where the transaction itself could not be read. */
  sender?: Address
  to?: Address
  /** `direct`: the factory was called by the sender and the address follows from sender and salt. */
  via: 'direct' | 'router' | 'unknown'
  salt?: Hex
  firstAdmin: Address | undefined
  initCalls: readonly { selector: Hex; name: string; arguments: readonly string[] }[]
}

export type LogCoverage = {
  fromBlock: bigint
  toBlock: bigint
  count: number
  /** Inclusive ranges nobody could read, with why. */
  gaps: readonly { fromBlock: bigint; toBlock: bigint; reason: string }[]
}

export type ForkFact = {
  fork: Known<Fork>
  /** How it was detected. */
  seizeRole: string
  invertedPolicyId: string
  scheduled: Fork | undefined
  mismatch: boolean
  unreviewed: boolean
}

/** Everything read about one token at one block. The evaluation reads nothing else. */
export type TokenFacts = {
  chainId: number
  token: Address
  variant: TokenVariant
  variantByte: number
  block: PinnedBlock
  fork: ForkFact
  name: Known<string>
  symbol: Known<string>
  decimals: Known<number>
  contractUri: Known<string>
  currency: Known<string> | undefined
  totalSupply: Known<bigint>
  supplyCap: Known<bigint>
  /** Tokens were made at some time, even if all of them were burned since. */
  minted: Known<boolean>
  paused: Known<readonly number[]>
  /** Undefined: this fork knows no such scope. */
  scopes: Readonly<Record<ScopeName, Known<bigint> | undefined>>
  adminCount: Known<bigint>
  roles: ReadonlyMap<Hex, RoleFacts>
  /** By base id. */
  policies: ReadonlyMap<bigint, PolicyFacts>
  multiplier: Known<Multiplier> | undefined
  /** Getters of draft roles that answered although nobody has reviewed them. */
  unreviewedRoles: readonly string[]
  accounts: ReadonlyMap<Address, Known<AccountLabel>>
  genesis: Genesis | undefined
  logs: LogCoverage
  events: readonly ControlEvent[]
  /** Events of the policies bound now and of their children; if there are too many, the latest ones. */
  policyEvents: readonly PolicyEvent[]
  policyEventsLeftOut: number
  /** What logs say against views, each in a stable code. */
  contradictions: readonly Contradiction[]
}

export type Contradiction = { code: string; detail: string }
