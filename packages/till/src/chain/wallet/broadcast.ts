import type { Hex } from '@assay/protocol/bytes'
import { type RpcEndpoint, RpcRefusal } from '../rpc.ts'

export type BroadcastResult =
  | { status: 'accepted' }
  /** Every endpoint checked it and said no: it is nowhere. */
  | { status: 'refused'; kind: RefusalKind; message: string }
  /** At least one endpoint may have taken it. */
  | { status: 'unknown'; message: string }

export type RefusalKind = 'nonce_used' | 'nonce_occupied' | 'unfunded' | 'invalid'

const alreadyKnown = /already known|known transaction|already imported|already exists/i
/** Only words that mean "checked and not taken". Limits and internal errors of a node are no verdict. */
const refusals: readonly [RegExp, RefusalKind][] = [
  [/nonce too low|nonce is too low|old nonce/i, 'nonce_used'],
  [/replacement transaction underpriced|replacement.*(fee|price).*(low|small)|too low to replace/i, 'nonce_occupied'],
  [/insufficient funds|enough funds/i, 'unfunded'],
  [
    /underpriced|intrinsic gas|exceeds (block )?gas limit|gas limit|fee cap|less than block base fee|invalid sender|tip/i,
    'invalid',
  ],
]

/** Sends to all endpoints at once; the first that takes it decides. */
export async function broadcast(endpoints: readonly RpcEndpoint[], raw: Hex): Promise<BroadcastResult> {
  const refused: { kind: RefusalKind; message: string }[] = []
  let doubt: string | undefined
  const attempts = endpoints.map(async (endpoint) => {
    try {
      await endpoint.send([{ method: 'eth_sendRawTransaction', params: [raw] }])
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (error instanceof RpcRefusal && alreadyKnown.test(message)) return
      const kind = error instanceof RpcRefusal ? refusals.find(([pattern]) => pattern.test(message))?.[1] : undefined
      if (kind) refused.push({ kind, message })
      else doubt = message
      throw error
    }
  })
  try {
    await Promise.any(attempts)
    return { status: 'accepted' }
  } catch {
    const first = refused[0]
    if (doubt === undefined && first)
      return { status: 'refused', kind: first.kind, message: first.message.slice(0, 200) }
    return { status: 'unknown', message: (doubt ?? 'no endpoint').slice(0, 200) }
  }
}
