import { registryAddress, storageOf } from '@assay/protocol/token-report/b20-storage'
import { encodeHeader, readHeader } from '@assay/protocol/token-report/block-header'
import {
  anchorSlots,
  type ChainProof,
  gameIdSlot,
  gameSlots,
  messagePasser,
  notProven,
  verifyChainProof,
} from '@assay/protocol/token-report/chain-proof'
import type { TokenReport } from '@assay/protocol/token-report/verify-report'
import { findFinalOutput } from './find-output.ts'

type Hex = `0x${string}`

/** One JSON-RPC question. What is answered need not be true: a wrong answer proves nothing. */
export type AskChain = (method: string, params: readonly unknown[]) => Promise<unknown>

export type ProveOptions = {
  /** The chain of the token, with state at the block of the report. */
  l2: AskChain
  /** The parent chain. */
  l1: AskChain
  /** The anchor state registry of the chain of the token on the parent chain. */
  anchor: string
  /** Block of the parent chain to end in. Default: the final one. */
  l1Block?: Hex | 'finalized' | 'latest'
}

/** Why a report cannot be proven at the moment; `code` is stable. */
export class ProveError extends Error {
  override readonly name = 'ProveError'
  readonly code: 'unread' | 'no_final_output' | 'output_too_far' | 'not_proven'
  constructor(code: ProveError['code'], message: string) {
    super(message)
    this.code = code
  }
}

// Some nodes refuse longer lists of slots in one question.
const slotsAtOnce = 256
const headersAtOnce = 50
// About an hour of blocks, and ten megabytes.
const headersMax = 20_000

/** Upgrades a report to one that trusts no node: from storage to a block of the parent chain. */
export async function proveReport(report: TokenReport, options: ProveOptions): Promise<ChainProof> {
  const { l1, l2 } = options
  const anchor = options.anchor.toLowerCase() as Hex
  const { blockHash, blockNumber } = report.attestation.message
  const below = await headerOf(l1, options.l1Block ?? 'finalized')
  const output = await findFinalOutput(l1, anchor, BigInt(blockNumber), below.number)
  if (output === undefined)
    throw new ProveError('no_final_output', `no output of block ${blockNumber} or later is final yet; try again later`)
  const distance = output.blockNumber - BigInt(blockNumber)
  if (distance >= BigInt(headersMax))
    throw new ProveError('output_too_far', `the next output is ${distance} blocks later, more than ${headersMax}`)
  const storage = await storageProofs(l2, report)
  const headers = await headersBetween(l2, BigInt(blockNumber), output.blockNumber)
  if (readHeader(headers[0])?.hash !== blockHash.toLowerCase())
    throw new ProveError('not_proven', `block ${blockNumber} is another one now than in the report`)
  const claim = { game_type: output.gameType, root_claim: output.rootClaim, extra_data: output.extraData }
  const proof: ChainProof = {
    format: 'assay-b20-proof',
    version: 1,
    report,
    storage,
    headers,
    message_passer: await askProof(l2, messagePasser, [], output.blockNumber),
    output: { ...claim, game: output.game },
    l1: {
      header: below.bytes,
      anchor,
      factory: output.factory,
      anchor_proof: await askProof(l1, anchor, anchorSlots(output.game), below.number),
      factory_proof: await askProof(l1, output.factory, [gameIdSlot(claim)], below.number),
      game_proof: await askProof(l1, output.game, gameSlots, below.number),
    },
    not_proven: [...notProven],
  }
  await refuseUnproven(proof, below.hash, anchor)
  return proof
}

/** Nothing is handed out that does not verify. */
async function refuseUnproven(proof: ChainProof, l1BlockHash: string, anchor: string): Promise<void> {
  const { checks } = await verifyChainProof(proof, { l1BlockHash, anchor })
  const wrong = checks.find(({ status }) => status === 'failed')
  if (wrong !== undefined) throw new ProveError('not_proven', `${wrong.name}: ${wrong.detail}`)
}

/** Those in the report, or read now. */
async function storageProofs(l2: AskChain, report: TokenReport): Promise<ChainProof['storage']> {
  const own = report.proof as { token: unknown; registry: unknown } | undefined
  if (own !== undefined) return { token: own.token, registry: own.registry }
  const { token, registry } = storageOf(report)
  const at = BigInt(report.attestation.message.blockNumber)
  const slotsOf = (slots: typeof token) => [...new Set(slots.map(({ slot }) => slot))]
  return {
    token: await askProof(l2, report.attestation.message.token, slotsOf(token), at),
    registry: registry.length === 0 ? null : await askProof(l2, registryAddress, slotsOf(registry), at),
  }
}

async function askProof(ask: AskChain, address: Hex, slots: readonly Hex[], block: bigint): Promise<unknown> {
  const parts: Record<string, unknown>[] = []
  for (let from = 0; from === 0 || from < slots.length; from += slotsAtOnce) {
    const some = slots.slice(from, from + slotsAtOnce)
    parts.push((await ask('eth_getProof', [address, some, `0x${block.toString(16)}`])) as Record<string, unknown>)
  }
  const storageProof = parts.flatMap((part) => (Array.isArray(part?.storageProof) ? part.storageProof : []))
  return { address, accountProof: parts[0]?.accountProof, storageProof }
}

async function headerOf(ask: AskChain, block: Hex | 'finalized' | 'latest') {
  const found = await ask('eth_getBlockByNumber', [block, false])
  const bytes = found === null ? undefined : encodeHeader(found as Record<string, unknown>)
  const header = readHeader(bytes)
  if (bytes === undefined || header === undefined)
    throw new ProveError('unread', `the header of block ${block} cannot be read or has fields that are not known`)
  return { ...header, bytes }
}

async function headersBetween(ask: AskChain, from: bigint, to: bigint): Promise<Hex[]> {
  const headers: Hex[] = []
  for (let first = from; first <= to; first += BigInt(headersAtOnce)) {
    const count = Math.min(headersAtOnce, Number(to - first) + 1)
    const numbers = Array.from({ length: count }, (_, i) => first + BigInt(i))
    const some = await Promise.all(numbers.map((number) => headerOf(ask, `0x${number.toString(16)}`)))
    headers.push(...some.map(({ bytes }) => bytes))
  }
  return headers
}
