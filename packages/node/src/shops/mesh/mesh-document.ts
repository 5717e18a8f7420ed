import { parseNodeAddress } from '@assay/protocol/mesh/node-address'
import { statementCharsMax } from '@assay/protocol/mesh/statement'
import { z } from 'zod'
import { relayedMax } from './limits.ts'

const named = z.object({ did: z.string().max(300), address: z.string().max(255), sequence: z.int().min(0) })

const brief = z.object({
  protocol: z.string().max(32),
  node: z.object({ did: z.string().max(300), statement: z.string().max(statementCharsMax) }),
  peers: z.array(z.unknown()),
})

export type BriefDocument = {
  statement: string
  peers: { did: string; origin: string; sequence: number }[]
}

/** What a visit reads of another node's mesh document. Entries that are not well formed are left out, extra ones too. */
export function readBrief(value: unknown): BriefDocument | undefined {
  const parsed = brief.safeParse(value)
  if (!parsed.success) return undefined
  const peers = parsed.data.peers.slice(0, relayedMax).flatMap((entry) => {
    const read = named.safeParse(entry)
    if (!read.success) return []
    const address = parseNodeAddress(read.data.address)
    return address?.did === read.data.did ? [{ ...address, sequence: read.data.sequence }] : []
  })
  return { statement: parsed.data.node.statement, peers }
}
