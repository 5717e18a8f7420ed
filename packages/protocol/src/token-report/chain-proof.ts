import { concatHex, encodeAbiParameters, keccak256, numberToHex, pad } from 'viem/utils'
import { failed, notChecked, passed } from '../evidence/attestation-file.ts'
import type { EvidenceCheck, EvidenceReport } from '../evidence/verify-evidence.ts'
import { isRecord } from '../json-object.ts'
import { type BlockHeader, readHeader } from './block-header.ts'
import { storageCheck, storageReader, storageRootOf } from './verify-proof.ts'
import {
  parseTokenReport,
  type TokenReport,
  type VerifyTokenReportOptions,
  verifyTokenReport,
} from './verify-report.ts'

type Hex = `0x${string}`

/** A report with everything that ties it to a block of the layer below: nothing in it has to be believed. */
export type ChainProof = {
  format: 'assay-b20-proof'
  version: 1
  report: TokenReport
  /** eth_getProof answers at the block of the report. */
  storage: { token: unknown; registry: unknown }
  /** RLP, from the block of the report to that of the output. */
  headers: Hex[]
  /** eth_getProof of the message passer at the block of the output. */
  message_passer: unknown
  output: { game_type: number; root_claim: Hex; extra_data: Hex; game: Hex }
  l1: { header: Hex; anchor: Hex; factory: Hex; anchor_proof: unknown; factory_proof: unknown; game_proof: unknown }
  not_proven: string[]
}

/** The account whose storage root is part of every output. */
export const messagePasser: Hex = '0x4200000000000000000000000000000000000016'

// Layout of AnchorStateRegistry, DisputeGameFactory and the games, as published with the OP-stack contracts.
const [factorySlot, blacklistSlot, respectedSlot, gamesSlot, gameSlot] = [1, 5, 6, 103, 0].map((n) =>
  numberToHex(n, { size: 32 }),
) as [Hex, Hex, Hex, Hex, Hex]
const defenderWins = 2n

export const anchorSlots = (game: Hex): Hex[] => [factorySlot, respectedSlot, mapped(game, blacklistSlot)]
export const gameSlots: readonly Hex[] = [gameSlot]
const mapped = (key: Hex, slot: Hex): Hex => keccak256(concatHex([pad(key), slot]))

/** Where the factory keeps the game about an output. */
export function gameIdSlot({
  game_type,
  root_claim,
  extra_data,
}: Pick<ChainProof['output'], 'game_type' | 'root_claim' | 'extra_data'>): Hex {
  const types = [{ type: 'uint32' }, { type: 'bytes32' }, { type: 'bytes' }] as const
  return mapped(keccak256(encodeAbiParameters(types, [game_type, root_claim, extra_data])), gamesSlot)
}

export const outputRootOf = (stateRoot: Hex, messagePasserRoot: Hex, blockHash: Hex): Hex =>
  keccak256(concatHex([numberToHex(0, { size: 32 }), stateRoot, messagePasserRoot, blockHash]))

const hex = (digits: string) => new RegExp(`^0x[0-9a-f]${digits}$`)
const [hash, account, bytes] = [hex('{64}'), hex('{40}'), hex('*')]
const fits = (pattern: RegExp, value: unknown) => typeof value === 'string' && pattern.test(value)

/** Undefined for anything that is not such a proof. */
export function parseChainProof(value: unknown): ChainProof | undefined {
  if (!isRecord(value) || value.format !== 'assay-b20-proof' || value.version !== 1) return undefined
  const { report, storage, headers, output, l1 } = value
  const wellFormed =
    parseTokenReport(report) !== undefined &&
    isRecord(storage) &&
    Array.isArray(headers) &&
    isRecord(output) &&
    Number.isSafeInteger(output.game_type) &&
    Number(output.game_type) >= 0 &&
    Number(output.game_type) < 2 ** 32 &&
    fits(hash, output.root_claim) &&
    fits(bytes, output.extra_data) &&
    fits(account, output.game) &&
    isRecord(l1) &&
    fits(account, l1.anchor) &&
    fits(account, l1.factory)
  return wellFormed ? (value as ChainProof) : undefined
}

export type VerifyChainProofOptions = VerifyTokenReportOptions & {
  /** Hash of a block of the layer below that the caller has from elsewhere. */
  l1BlockHash?: string
  /** The anchor state registry of the chain on the layer below, from elsewhere too. */
  anchor?: string
}

/** Checks a proof with nothing but its bytes and a block hash of the layer below. */
export async function verifyChainProof(
  proof: ChainProof,
  options: VerifyChainProofOptions = {},
): Promise<EvidenceReport> {
  const { report } = proof
  const signed = await verifyTokenReport(report, options)
  const headers = proof.headers.map(readHeader)
  const last = headers.at(-1)
  const checks = [
    ...signed.checks.filter(({ name }) => name !== 'chain'),
    storageCheck('storage', report, proof.storage),
    headersCheck(report, headers),
    last === undefined ? failed('output', 'the block of the output cannot be read') : outputCheck(proof, last),
    ...l1Checks(proof, options),
    verdictCheck(report),
  ]
  return { ok: checks.every(({ status }) => status !== 'failed'), checks }
}

/** From the block of the report on, every header names the one before. */
function headersCheck(report: TokenReport, headers: readonly (BlockHeader | undefined)[]): EvidenceCheck {
  const block = isRecord(report.block) ? report.block : {}
  const [first] = headers
  if (first === undefined || first.hash !== block.hash || first.stateRoot !== block.state_root)
    return failed('headers', 'the first header is not that of the block of the report')
  if (String(first.number) !== block.number || Number(first.timestamp) * 1000 !== Date.parse(String(block.at)))
    return failed('headers', 'the block of the report has another number or time')
  const linked = headers.every((header, i) => i === 0 || (header && header.parentHash === headers[i - 1]?.hash))
  if (!linked) return failed('headers', 'a header does not follow from the one before')
  return passed(
    'headers',
    `${headers.length} headers lead from block ${first.number} to block ${headers.at(-1)?.number}`,
  )
}

function outputCheck({ message_passer, output }: ChainProof, last: BlockHeader): EvidenceCheck {
  const passer = storageRootOf(last.stateRoot, messagePasser, message_passer)
  if (passer === undefined) return failed('output', 'the message passer is not what the state root commits to')
  if (outputRootOf(last.stateRoot, passer, last.hash) !== output.root_claim)
    return failed('output', 'the output is of another block')
  // The block number is the first word; what follows depends on the kind of game.
  if (output.extra_data.length < 66 || BigInt(output.extra_data.slice(0, 66)) !== last.number)
    return failed('output', 'the claim is about another block number')
  return passed('output', `output root ${output.root_claim} is of block ${last.number}`)
}

/** The claim about the output: known to the factory that the anchor names, of the respected kind, and won. */
function l1Checks(proof: ChainProof, { l1BlockHash, anchor }: VerifyChainProofOptions): EvidenceCheck[] {
  const { l1, output } = proof
  const header = readHeader(l1.header)
  if (header === undefined) return [failed('l1', 'the header of the layer below cannot be read')]
  const wrong = claimFault(proof, header)
  const claim =
    wrong === undefined
      ? passed('claim', `game ${output.game} of type ${output.game_type} resolved in favour of the output`)
      : failed('claim', wrong)
  return [claim, l1Check(header, l1BlockHash), anchorCheck(l1.anchor, anchor)]
}

function l1Check({ hash: found, number }: BlockHeader, given: string | undefined): EvidenceCheck {
  if (given === undefined)
    return notChecked('l1', `that ${found} is block ${number} of the layer below is for you to say (--l1-block)`)
  return given.toLowerCase() === found
    ? passed('l1', `block ${number} of the layer below is the one you named`)
    : failed('l1', 'the proof ends in another block of the layer below')
}

function anchorCheck(found: Hex, given: string | undefined): EvidenceCheck {
  if (given === undefined)
    return notChecked('anchor', `that ${found} is the anchor state registry of the chain is for you to say (--anchor)`)
  return given.toLowerCase() === found
    ? passed('anchor', 'the anchor state registry is the one you named')
    : failed('anchor', 'the proof relies on another anchor state registry')
}

const uint64 = (1n << 64n) - 1n
const uint160 = (1n << 160n) - 1n

function claimFault({ l1, output }: ChainProof, { stateRoot, timestamp }: BlockHeader): string | undefined {
  const anchor = storageReader(stateRoot, l1.anchor, l1.anchor_proof)
  const [factory, respected, blacklisted] = anchorSlots(output.game).map(anchor)
  const id = storageReader(stateRoot, l1.factory, l1.factory_proof)(gameIdSlot(output))
  const game = storageReader(stateRoot, output.game, l1.game_proof)(gameSlot)
  if (factory === undefined || respected === undefined || blacklisted === undefined)
    return 'the anchor state registry is not what the state root commits to'
  if (id === undefined) return 'the factory is not what the state root commits to'
  if (game === undefined) return 'the game is not what the state root commits to'
  if ((factory & uint160) !== BigInt(l1.factory)) return 'the anchor state registry names another factory'
  if (id === 0n) return 'the factory knows no claim about this output'
  if ((id & uint160) !== BigInt(output.game) || id >> 224n !== BigInt(output.game_type))
    return 'the factory knows another game about this output'
  if ((respected & 0xffffffffn) !== BigInt(output.game_type)) return 'games of this type do not count'
  if (blacklisted !== 0n) return 'the game is on the list of games that do not count'
  const [created, resolved, status] = [game & uint64, (game >> 64n) & uint64, (game >> 128n) & 0xffn]
  if (created !== ((id >> 160n) & uint64)) return 'the game was created at another time than the factory says'
  if (created <= ((respected >> 32n) & uint64)) return 'games of that time do not count any more'
  if (status !== defenderWins || resolved === 0n || resolved > timestamp)
    return status === 0n ? 'the claim about the output can still be challenged' : 'the claim about the output was lost'
  return undefined
}

// Address zero, tokens, the factory and the registries never call anything.
const neverCalls = /^0x(0{40}$|b20{18}|b20f0{36}$|84530{35}[12]$)/

/** How far storage alone carries the verdict: it proves who was found, not that nobody else is there. */
function verdictCheck({ verdict, roles, completeness }: TokenReport): EvidenceCheck {
  const admins = (Array.isArray(roles) ? roles : []).find((role) => isRecord(role) && /^0x0+$/.test(String(role.role)))
  const holders = isRecord(admins) && Array.isArray(admins.holders) ? admins.holders : []
  const live = holders.some(
    (one) =>
      isRecord(one) &&
      !neverCalls.test(String(one.account).toLowerCase()) &&
      isRecord(one.label) &&
      one.label.kind !== 'presumed_dead',
  )
  if (verdict === 'ISSUER_CONTROLLED' && live)
    return passed('verdict', 'ISSUER_CONTROLLED follows from storage: an admin is there')
  const count = isRecord(completeness) ? completeness.admin_count : undefined
  return notChecked(
    'verdict',
    `storage proves the ${count === '0' ? 'absence of admins' : 'admins'} and everybody named; that nobody else holds a role or is listed rests on logs`,
  )
}

/** What no proof of storage can show. */
export const notProven: readonly string[] = [
  'that nobody but those named holds a role other than DEFAULT_ADMIN_ROLE: roles cannot be listed, only tested',
  'that nobody but those named is on a list',
  'history, and what was exercised: it rests on logs',
  'name, symbol, links, decimals, the current multiplier and the labels of accounts',
  'which rules the chain applies to this storage: they are part of the node software and chosen by fork',
]
