import { concatHex, keccak256, numberToHex, pad } from 'viem/utils'
import { isRecord } from '../json-object.ts'

type Hex = `0x${string}`
type Report = Record<string, unknown>

/** A slot that a report speaks of, and whether a word in it is what the report says. */
export type ReportedSlot = { name: string; slot: Hex; fits(word: bigint): boolean }
export type ReportedStorage = {
  token: ReportedSlot[]
  registry: ReportedSlot[]
  /** Listed accounts beyond what one proof carries. */
  leftOut: number
}

export const registryAddress: Hex = '0x8453000000000000000000000000000000000002'

// ERC-7201 roots of `base.b20`, `base.b20.asset` and `base.policy_registry`.
const tokenRoot = 0xc78b71fee795ddd74aff64ea9b2474194c938c3196430e10bb5f01ed48434000n
const assetRoot = 0xfdc6d4552d1286ade4d9facdbf0fb50d2ec9b89a90e104f26fd277585e374b00n
const registryRoot = 0x00503aeb06982fa1fe3151dc68f90b3946c55c449dfd447e49dcaece71ba4a00n
const inToken = {
  supply: 3,
  roles: 6,
  roleAdmins: 7,
  adminCount: 8,
  transferIds: 9,
  mintIds: 10,
  paused: 11,
  cap: 12,
  seizeIds: 14,
}
const inAsset = { pending: 4 }
const inRegistry = { policies: 0, members: 1, pendingAdmins: 2, children: 4 }

const slotAt = (root: bigint, offset: number): Hex => numberToHex(root + BigInt(offset), { size: 32 })
const mapped = (key: Hex | bigint, slot: Hex): Hex =>
  keccak256(concatHex([typeof key === 'bigint' ? numberToHex(key, { size: 32 }) : pad(key), slot]))

const noSupplyCap = 2n ** 128n - 1n
const uint64Mask = 2n ** 64n - 1n
// Proofs are long: beyond this many accounts of its lists the rest of a report stays with the views.
const listedMax = 1_000

/** Every slot behind a report. Throws where the report is not of the form of one or leaves out what it follows. */
export function storageOf(report: Report): ReportedStorage {
  refuseUndescribed(report)
  const listed = recordsIn(report.policies).flatMap(listedSlots)
  return {
    token: [...plainSlots(report), ...scopeSlots(report), ...pendingSlots(report), ...roleSlots(report)],
    registry: [...recordsIn(report.policies).flatMap(policySlots), ...listed.slice(0, listedMax)],
    leftOut: Math.max(0, listed.length - listedMax),
  }
}

const [alwaysAllow, alwaysBlock, invertBit] = [0n, (1n << 56n) | 1n, 1n << 63n]
const isComposite = (id: bigint) => id >> 56n === 2n || id >> 56n === 3n

/** Every policy that a scope or another policy names must be described, or its admins would go unseen. */
function refuseUndescribed({ scopes, policies, fork }: Report): void {
  const described = new Map(recordsIn(policies).map((policy) => [wordOf(policy.id), policy]))
  const children = [...described].flatMap(([id, policy]) => (isComposite(id) ? recordsIn(policy.children) : []))
  const bound = recordsIn(scopes).flatMap(({ policy_id }) => (policy_id === null ? [] : [policy_id]))
  if (bound.length < (recordOf(fork).name === 'beryl' ? 4 : 6)) throw new TypeError('a scope is missing')
  for (const id of [...bound, ...children.map((child) => child.id)]) {
    const base = wordOf(id) & ~invertBit
    if (base !== alwaysAllow && base !== alwaysBlock && !described.has(base))
      throw new TypeError(`policy ${base} is followed and not described`)
  }
}

const exactly = (name: string, slot: Hex, value: bigint): ReportedSlot => ({
  name,
  slot,
  fits: (word) => word === value,
})

function plainSlots({ supply, completeness, pause }: Report): ReportedSlot[] {
  const { total, cap } = recordOf(supply)
  const features = recordsIn(recordOf(pause).paused).reduce((mask, { feature }) => mask | (1n << wordOf(feature)), 0n)
  const slot = (offset: number) => slotAt(tokenRoot, offset)
  return [
    exactly('adminCount', slot(inToken.adminCount), wordOf(recordOf(completeness).admin_count)),
    exactly('pausedFeatures', slot(inToken.paused), features),
    exactly('supplyCap', slot(inToken.cap), cap === 'none' ? noSupplyCap : wordOf(cap)),
    exactly('totalSupply', slot(inToken.supply), wordOf(total)),
  ]
}

const scopeOffsets: Record<string, readonly [offset: number, index: number]> = {
  TRANSFER_SENDER_POLICY: [inToken.transferIds, 0],
  TRANSFER_RECEIVER_POLICY: [inToken.transferIds, 1],
  TRANSFER_EXECUTOR_POLICY: [inToken.transferIds, 2],
  MINT_RECEIVER_POLICY: [inToken.mintIds, 0],
  SEIZE_EXEMPT_POLICY: [inToken.seizeIds, 0],
  SEIZE_RECEIVER_POLICY: [inToken.seizeIds, 1],
}

/** Policy ids share a word; a scope that the fork does not know has none. */
function scopeSlots({ scopes }: Report): ReportedSlot[] {
  return recordsIn(scopes).flatMap(({ name, policy_id }) => {
    const place = scopeOffsets[String(name)]
    if (place === undefined) throw new TypeError('a scope is not known')
    if (policy_id === null) return []
    const [offset, index] = place
    const id = wordOf(policy_id)
    const fits = (word: bigint) => ((word >> BigInt(64 * index)) & uint64Mask) === id
    return [{ name: `scopes.${name}`, slot: slotAt(tokenRoot, offset), fits }]
  })
}

/** A multiplier that waits is bits 0 to 127 of its word, and when it matures the 64 bits above. */
function pendingSlots({ multiplier, block, fork }: Report): ReportedSlot[] {
  if (multiplier === null || recordOf(fork).name === 'beryl') return []
  const { pending } = recordOf(multiplier)
  const due = (word: bigint) => (word >> 128n) & uint64Mask
  const slot = slotAt(assetRoot, inAsset.pending)
  if (pending === null) {
    const now = secondsOf(recordOf(block).at)
    return [{ name: 'pendingMultiplier', slot, fits: (word) => due(word) <= now }]
  }
  const { value_wad, effective_at } = recordOf(pending)
  const [value, when] = [wordOf(value_wad), secondsOf(effective_at)]
  return [{ name: 'pendingMultiplier', slot, fits: (word) => (word & noSupplyCap) === value && due(word) === when }]
}

function roleSlots({ roles }: Report): ReportedSlot[] {
  return recordsIn(roles).flatMap(({ role, name, admin, holders }) => {
    const hash = hexOf(role, 64)
    const adminSlot = mapped(hash, slotAt(tokenRoot, inToken.roleAdmins))
    const members = mapped(hash, slotAt(tokenRoot, inToken.roles))
    return [
      exactly(`roleAdmins.${name}`, adminSlot, BigInt(hexOf(recordOf(admin).role, 64))),
      ...recordsIn(holders).map(({ account }) => {
        const holder = hexOf(account, 40)
        return exactly(`roles.${name}.${holder}`, mapped(holder, members), 1n)
      }),
    ]
  })
}

/** Slots of a policy: that it exists, who administers it, who may take it over, what it combines. */
function policySlots({ id, admin, pending_admin, children }: Report): ReportedSlot[] {
  const key = wordOf(id)
  const of = (offset: number) => mapped(key, slotAt(registryRoot, offset))
  const word = (party: unknown) => (party === null ? 0n : BigInt(hexOf(recordOf(party).account, 40)))
  const slots = [
    exactly(`policies.${id}`, of(inRegistry.policies), (1n << 255n) | word(admin)),
    exactly(`pendingAdmins.${id}`, of(inRegistry.pendingAdmins), word(pending_admin)),
  ]
  if (!isComposite(key)) return slots
  const ids = recordsIn(children).map((child) => wordOf(child.id))
  const length = of(inRegistry.children)
  // Four ids of 64 bits share a word, and no composite has more children.
  const packed = ids.reduce((sum, child, i) => sum | (child << BigInt(64 * i)), 0n)
  return [
    ...slots,
    exactly(`children.${id}.length`, length, BigInt(ids.length)),
    exactly(`children.${id}`, keccak256(length), packed),
  ]
}

function listedSlots({ id, listed }: Report): ReportedSlot[] {
  if (!Array.isArray(listed)) throw new TypeError('a list cannot be read')
  const members = mapped(wordOf(id), slotAt(registryRoot, inRegistry.members))
  return listed.map((account) => {
    const member = hexOf(account, 40)
    return exactly(`members.${id}.${member}`, mapped(member, members), 1n)
  })
}

function recordOf(value: unknown): Report {
  if (!isRecord(value)) throw new TypeError('a part of the report is missing or not known')
  return value
}

function recordsIn(value: unknown): Report[] {
  if (!Array.isArray(value)) throw new TypeError('a list of the report is missing or not known')
  return value.map(recordOf)
}

function wordOf(value: unknown): bigint {
  const text = String(value)
  if (!/^[0-9]{1,78}$/.test(text)) throw new TypeError('a number of the report cannot be read')
  return BigInt(text)
}

function hexOf(value: unknown, digits: number): Hex {
  const text = String(value).toLowerCase()
  if (!/^0x[0-9a-f]+$/.test(text) || text.length !== digits + 2) throw new TypeError('a report holds odd hex')
  return text as Hex
}

function secondsOf(value: unknown): bigint {
  const ms = Date.parse(String(value))
  if (!Number.isFinite(ms) || ms < 0) throw new TypeError('a time of the report cannot be read')
  return BigInt(Math.floor(ms / 1000))
}
