import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { topicHashes } from '../abi/b20.ts'
import { readAddress, readHash, readText, readTextAt, readUint, readUintArray } from './words.ts'

export type LogPlace = { blockNumber: bigint; blockHash: Hex; transaction: Hex; logIndex: number }

/** In the order in which the chain wrote them. */
export const byPlace = (a: LogPlace, b: LogPlace) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex

export type RawLog = LogPlace & { address: Address; topics: readonly Hex[]; data: Hex }

/** What a log of a token says about control. It is a hint until a view confirms it. */
export type ControlChange =
  | { kind: 'role_granted' | 'role_revoked'; role: Hex; account: Address; sender: Address }
  | { kind: 'role_admin_changed'; role: Hex; previousAdmin: Hex; newAdmin: Hex }
  | { kind: 'last_admin_renounced'; previousAdmin: Address }
  | { kind: 'paused' | 'unpaused'; updater: Address; features: readonly number[] }
  | { kind: 'policy_updated'; scope: Hex; oldId: bigint; newId: bigint }
  | { kind: 'supply_cap_updated'; updater: Address; oldCap: bigint; newCap: bigint }
  | { kind: 'seized'; caller: Address; from: Address; to: Address; amount: bigint }
  | { kind: 'burned_blocked'; caller: Address; from: Address; amount: bigint }
  | { kind: 'name_updated' | 'symbol_updated'; updater: Address; text: string }
  | { kind: 'contract_uri_updated' }
  | { kind: 'extra_metadata_updated'; key: string; value: string }
  | { kind: 'multiplier_updated'; value: bigint }
  | { kind: 'ui_multiplier_updated'; oldValue: bigint; newValue: bigint; effectiveAt: bigint }
  | { kind: 'ui_multiplier_cancelled'; value: bigint; effectiveAt: bigint }

export type ControlEvent = ControlChange & LogPlace

const topic = topicHashes

const word = (log: RawLog, index: number): Hex => `0x${log.data.slice(2 + index * 64, 66 + index * 64)}`
const uintAt = (log: RawLog, index: number, bits = 256) => readUint(word(log, index), bits)
const addressAt = (log: RawLog, index: number) => readAddress(log.topics[index] ?? '0x')
const hashAt = (log: RawLog, index: number) => readHash(log.topics[index] ?? '0x')

/** An object only if every part of it was readable. */
function whole<T extends object>(parts: { [K in keyof T]: T[K] | undefined }): T | undefined {
  for (const value of Object.values(parts)) if (value === undefined) return undefined
  return parts as T
}

type Decoder = (log: RawLog) => ControlChange | undefined

const roleChange =
  (kind: 'role_granted' | 'role_revoked'): Decoder =>
  (log) =>
    whole({ kind, role: hashAt(log, 1), account: addressAt(log, 2), sender: addressAt(log, 3) })

const pauseChange =
  (kind: 'paused' | 'unpaused'): Decoder =>
  (log) =>
    whole({ kind, updater: addressAt(log, 1), features: readUintArray(log.data, 8, 256)?.map(Number) })

const rename =
  (kind: 'name_updated' | 'symbol_updated'): Decoder =>
  (log) =>
    whole({ kind, updater: addressAt(log, 1), text: readText(log.data) })

const decoders = new Map<string, Decoder>([
  [topic['RoleGranted(bytes32,address,address)'], roleChange('role_granted')],
  [topic['RoleRevoked(bytes32,address,address)'], roleChange('role_revoked')],
  [
    topic['RoleAdminChanged(bytes32,bytes32,bytes32)'],
    (log) =>
      whole({
        kind: 'role_admin_changed' as const,
        role: hashAt(log, 1),
        previousAdmin: hashAt(log, 2),
        newAdmin: hashAt(log, 3),
      }),
  ],
  [
    topic['LastAdminRenounced(address)'],
    (log) => whole({ kind: 'last_admin_renounced' as const, previousAdmin: addressAt(log, 1) }),
  ],
  [topic['Paused(address,uint8[])'], pauseChange('paused')],
  [topic['Unpaused(address,uint8[])'], pauseChange('unpaused')],
  [
    topic['PolicyUpdated(bytes32,uint64,uint64)'],
    (log) =>
      whole({
        kind: 'policy_updated' as const,
        scope: hashAt(log, 1),
        oldId: uintAt(log, 0, 64),
        newId: uintAt(log, 1, 64),
      }),
  ],
  [
    topic['SupplyCapUpdated(address,uint256,uint256)'],
    (log) =>
      whole({
        kind: 'supply_cap_updated' as const,
        updater: addressAt(log, 1),
        oldCap: uintAt(log, 0),
        newCap: uintAt(log, 1),
      }),
  ],
  [
    topic['Seized(address,address,address,uint256)'],
    (log) =>
      whole({
        kind: 'seized' as const,
        caller: addressAt(log, 1),
        from: addressAt(log, 2),
        to: addressAt(log, 3),
        amount: uintAt(log, 0),
      }),
  ],
  [
    topic['BurnedBlocked(address,address,uint256)'],
    (log) =>
      whole({
        kind: 'burned_blocked' as const,
        caller: addressAt(log, 1),
        from: addressAt(log, 2),
        amount: uintAt(log, 0),
      }),
  ],
  [topic['NameUpdated(address,string)'], rename('name_updated')],
  [topic['SymbolUpdated(address,string)'], rename('symbol_updated')],
  [topic['ContractURIUpdated()'], () => ({ kind: 'contract_uri_updated' })],
  [
    topic['ExtraMetadataUpdated(string,string)'],
    (log) =>
      whole({ kind: 'extra_metadata_updated' as const, key: readTextAt(log.data, 0), value: readTextAt(log.data, 1) }),
  ],
  [topic['MultiplierUpdated(uint256)'], (log) => whole({ kind: 'multiplier_updated' as const, value: uintAt(log, 0) })],
  [
    topic['UIMultiplierUpdated(uint256,uint256,uint256)'],
    (log) =>
      whole({
        kind: 'ui_multiplier_updated' as const,
        oldValue: uintAt(log, 0),
        newValue: uintAt(log, 1),
        effectiveAt: uintAt(log, 2),
      }),
  ],
  [
    topic['UIMultiplierUpdateCancelled(uint256,uint256)'],
    (log) => whole({ kind: 'ui_multiplier_cancelled' as const, value: uintAt(log, 0), effectiveAt: uintAt(log, 1) }),
  ],
])

/** Topics of all events that say something about control; transfers are left out, there may be millions. */
export const controlTopics = [...decoders.keys()] as Hex[]

/** Undefined for a log that does not have the form its topic promises. */
export function decodeControlEvent(log: RawLog): ControlEvent | undefined {
  const change = decoders.get(log.topics[0] ?? '')?.(log)
  if (change === undefined) return undefined
  const { blockNumber, blockHash, transaction, logIndex } = log
  return { ...change, blockNumber, blockHash, transaction, logIndex }
}
