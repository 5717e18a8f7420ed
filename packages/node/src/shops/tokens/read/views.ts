import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { RpcCall } from '@assay/till/chain'
import { type Known, known, type PinnedBlock, unknown } from '../facts.ts'
import { decodeMulticall, encodeMulticall, type ViewCall, type ViewResult } from './multicall.ts'
import { agree, askAll, type Meter, type Panel, type Reply } from './panel.ts'

/** One view at the pinned block, as enough endpoints answered it. */
export type View =
  | { status: 'returned'; data: Hex }
  | { status: 'reverted'; data: Hex }
  | { status: 'unknown'; reason: 'unread' | 'disagreement' }

export type RawRead = { kind: 'code'; address: Address } | { kind: 'storage'; address: Address; slot: Hex }

export type ViewBatch = {
  views: View[]
  /** As hex text; undefined where it is not known. */
  raws: Known<Hex>[]
}

// Bounded so that one eth_call stays well inside the gas that public nodes allow.
const callsPerMulticall = 400

/** EIP-1898: this block, and an error if it is no longer part of the chain. */
export function blockParameter(block: PinnedBlock): { blockHash: Hex; requireCanonical: true } {
  return { blockHash: block.hash, requireCanonical: true }
}

/** Who is asked, at which block. */
export type ViewSource = { panel: Panel; multicall3: Address; block: PinnedBlock; meter: Meter }

/** Any number of views and raw reads in one round trip. */
export async function readViews(
  { panel, multicall3, block, meter }: ViewSource,
  calls: readonly ViewCall[],
  raws: readonly RawRead[],
): Promise<ViewBatch> {
  if (calls.length + raws.length === 0) return { views: [], raws: [] }
  const at = blockParameter(block)
  const chunks: ViewCall[][] = []
  for (let i = 0; i < calls.length; i += callsPerMulticall) chunks.push(calls.slice(i, i + callsPerMulticall))
  const requests: RpcCall[] = [
    ...chunks.map((chunk) => ({ method: 'eth_call', params: [{ to: multicall3, data: encodeMulticall(chunk) }, at] })),
    ...raws.map((raw) =>
      raw.kind === 'code'
        ? { method: 'eth_getCode', params: [raw.address, at] }
        : { method: 'eth_getStorageAt', params: [raw.address, raw.slot, at] },
    ),
  ]
  meter.views += 1
  const replies = await askAll(panel, requests)
  const decoded = decodeAll(replies, chunks)
  return {
    views: calls.map((_, index) =>
      voteView(
        panel,
        decoded.map((list) => list[index]),
      ),
    ),
    raws: raws.map((raw, index) =>
      voteRaw(
        panel,
        raw,
        replies.map((list) => list[chunks.length + index]),
      ),
    ),
  }
}

type Results = (ViewResult | undefined)[]

/** Endpoints mostly give the same bytes: those are taken apart once, and the same result then stands for all of them. */
function decodeAll(replies: readonly Reply[][], chunks: readonly ViewCall[][]): Results[] {
  const perEndpoint: Results[] = replies.map(() => [])
  for (const [i, chunk] of chunks.entries()) {
    const known: { answer: unknown; results: Results }[] = []
    for (const [endpoint, list] of replies.entries()) {
      const reply = list[i]
      const answer = reply?.ok ? reply.value : undefined
      const results = known.find((one) => one.answer === answer)?.results ?? resultsOf(answer, chunk.length)
      known.push({ answer, results })
      for (const result of results) perEndpoint[endpoint]?.push(result)
    }
  }
  return perEndpoint
}

function resultsOf(answer: unknown, count: number): Results {
  return decodeMulticall(answer, count) ?? Array.from({ length: count }, () => undefined)
}

function voteView(panel: Panel, results: Results): View {
  const [first] = results
  if (first !== undefined && results.length >= panel.quorum && results.every((result) => result === first))
    return asView(first)
  const outcome = agree(panel, results, ({ success, data }) => `${success}${data.toLowerCase()}`)
  if (outcome.status === 'disagreement') return { status: 'unknown', reason: 'disagreement' }
  if (outcome.status === 'unread') return { status: 'unknown', reason: 'unread' }
  return asView(outcome.value)
}

const asView = ({ success, data }: ViewResult): View => ({
  status: success ? 'returned' : 'reverted',
  data: data.toLowerCase() as Hex,
})

function voteRaw(panel: Panel, raw: RawRead, replies: readonly (Reply | undefined)[]): Known<Hex> {
  const pattern = raw.kind === 'code' ? /^0x(?:[0-9a-f]{2})*$/ : /^0x[0-9a-f]{64}$/
  const values = replies.map((reply) => {
    const text = reply?.ok && typeof reply.value === 'string' ? (reply.value.toLowerCase() as Hex) : undefined
    return text !== undefined && pattern.test(text) ? text : undefined
  })
  const outcome = agree(panel, values, (value) => value)
  if (outcome.status === 'agreed') return known(outcome.value)
  return unknown(outcome.status === 'disagreement' ? 'disagreement' : 'unread')
}

/** A view as a fact. Success without data is what an empty account answers: never a value. */
export function factOf<T>(view: View | undefined, read: (data: Hex) => T | undefined): Known<T> {
  if (view === undefined) return unknown('not_asked')
  if (view.status === 'unknown') return unknown(view.reason)
  if (view.status === 'reverted') return unknown('reverted')
  if (view.data === '0x') return unknown('empty_answer')
  const value = read(view.data)
  return value === undefined ? unknown('garbled') : known(value)
}
