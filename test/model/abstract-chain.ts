import type { ChainTransfer, SettlementEvidence } from '../../packages/till/src/chain/index.ts'
import { isFinalBlock } from '../../packages/till/src/transitions/decide-finality.ts'
import {
  type Authorization,
  type Bound,
  headOf,
  type Row,
  type Seen,
  type TransferRow,
  type Use,
  type World,
} from './world.ts'

export const us = '0xus' as const
const addressOf = (to: string): `0x${string}` => `0x${to}`
export const isOurs = (address: string): boolean => address === us
export const hashOf = (height: number, fork: number): `0x${string}` => `0x${height}.${fork}`

export function authorizationOf(bound: Bound, id: string): Authorization {
  const found = bound.authorizations.find((one) => one.id === id)
  if (!found) throw new Error(`no authorization ${id}`)
  return found
}

export const useOf = (world: World, key: string): Use | undefined => world.uses.find((use) => use.key === key)
export const usedAt = (world: World, key: string, height: number): boolean =>
  world.uses.some((use) => use.key === key && use.at <= height)

type Expected = { key: string; micro: number }

export const seenOf = (world: World, use: Use): Seen => ({
  tx: use.tx,
  at: use.at,
  fork: world.blocks[use.at] as number,
  position: use.position,
})

export const confirmedOf = (seen: Seen) =>
  ({
    status: 'confirmed',
    transaction: addressOf(seen.tx),
    blockNumber: BigInt(seen.at),
    blockHash: hashOf(seen.at, seen.fork),
    position: seen.position,
    gasGwei: 0n,
  }) as const

export const seenIn = (evidence: {
  transaction: string
  blockNumber: bigint
  blockHash: string
  position: number
}): Seen => ({
  tx: evidence.transaction.slice(2),
  at: Number(evidence.blockNumber),
  fork: Number(evidence.blockHash.split('.')[1]),
  position: evidence.position,
})

function transferOf(bound: Bound, world: World, use: Use): ChainTransfer {
  const { payer, to, micro } = authorizationOf(bound, use.auth)
  const { tx, at, fork, position } = seenOf(world, use)
  return {
    transaction: addressOf(tx),
    position,
    blockNumber: BigInt(at),
    blockHash: hashOf(at, fork),
    logIndex: position,
    sender: addressOf(payer),
    recipient: addressOf(to),
    amountMicro: BigInt(micro),
    paymentKey: addressOf(use.key),
  }
}

/** What the chain shows of the payment key, as the node reads it. */
export function evidenceByKey(bound: Bound, world: World, { key, micro }: Expected): SettlementEvidence {
  const use = useOf(world, key)
  if (!use) return { status: 'absent' }
  const { to, micro: moved } = authorizationOf(bound, use.auth)
  const seen = seenOf(world, use)
  if (to === 'nobody') {
    const { transaction, blockNumber, blockHash } = confirmedOf(seen)
    return { status: 'canceled', transaction, blockNumber, blockHash }
  }
  if (to === 'us' && moved === micro) return confirmedOf(seen)
  return { status: 'used_otherwise', transfer: transferOf(bound, world, use) }
}

/** What a named transaction shows. One that lost the race for the key is in a block and reverted. */
export function evidenceByTransaction(bound: Bound, world: World, tx: string, expected: Expected): SettlementEvidence {
  const use = world.uses.find((one) => one.tx === tx && one.key === expected.key)
  const reverted = { status: 'reverted', transaction: addressOf(tx), gasGwei: 0n } as const
  if (use) return authorizationOf(bound, use.auth).to === 'nobody' ? reverted : evidenceByKey(bound, world, expected)
  if (tx === 'reverted' || world.uses.some((one) => one.tx === tx) || useOf(world, expected.key)) return reverted
  return { status: 'absent' }
}

export const keyUse = (bound: Bound, world: World, key: string) => {
  const use = useOf(world, key)
  if (!use) return { status: 'absent' } as const
  if (authorizationOf(bound, use.auth).to === 'nobody') return { status: 'canceled' } as const
  return { status: 'transfer', transfer: transferOf(bound, world, use) } as const
}

/** The node's own question whether a block that it saw is final. */
export function isFinal(world: World, seen: { blockNumber: bigint; blockHash: string }): boolean {
  const fork = world.blocks[Number(seen.blockNumber)]
  const canonical = fork === undefined ? undefined : hashOf(Number(seen.blockNumber), fork)
  return isFinalBlock(BigInt(world.final), canonical, seen)
}

export const canonicalHash = (world: World, height: number): string | undefined => {
  const fork = world.blocks[height]
  return fork === undefined ? undefined : hashOf(height, fork)
}

export const expectedOf = (row: Pick<Row, 'key' | 'micro'>): Expected => ({ key: row.key, micro: row.micro })

/** Mines a block with these authorizations in it, in one transaction. */
export function mine(bound: Bound, world: World, tx: string, ids: readonly string[]): void {
  world.blocks.push(world.fork)
  world.now = Math.max(world.now, headOf(world))
  for (const [position, id] of ids.entries()) {
    const { key, to } = authorizationOf(bound, id)
    world.uses.push({ key, auth: id, tx, at: headOf(world), position })
    if (to === 'us' && !world.arrived.includes(id)) world.arrived.push(id)
  }
  world.arrived.sort()
}

export const maySubmit = (bound: Bound, world: World, id: string): boolean => {
  const { key, until } = authorizationOf(bound, id)
  return headOf(world) < until && !useOf(world, key)
}

export const recipientOf = (row: TransferRow): `0x${string}` => addressOf(row.recipient)
