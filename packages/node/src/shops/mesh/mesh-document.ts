import { isRecord } from '@assay/protocol/json-object'
import { type NodeAddress, parseNodeAddress } from '@assay/protocol/mesh/node-address'
import { statementCharsMax } from '@assay/protocol/mesh/statement'
import { z } from 'zod'
import { changedMax, relayedMax, silentMax } from './limits.ts'

const named = z.object({ did: z.string().max(300), address: z.string().max(255), sequence: z.int().min(0) })

const brief = z.object({
  protocol: z.string().max(32),
  node: z.object({ did: z.string().max(300), statement: z.string().max(statementCharsMax) }),
  peers: z.array(z.unknown()),
  changed: z.array(z.unknown()).optional(),
  changed_until: z.int().min(0).optional(),
  silent: z.array(z.unknown()).optional(),
  evidence_until: z.int().min(0).optional(),
  agents_until: z.int().min(0).optional(),
})

export type BriefDocument = {
  statement: string
  peers: { did: string; origin: string; sequence: number }[]
  /** Statements of others that changed, in their own words. */
  changed: { did: string; origin: string; sequence: number; statement: string }[]
  changedUntilMs: number | undefined
  /** Peers that did not answer the node that was asked. */
  silent: string[]
  /** When it was last given evidence and declarations of agents; undefined where it does not say. */
  evidenceUntilMs: number | undefined
  agentsUntilMs: number | undefined
}

/** What a visit reads of another node's mesh document. Entries that are not well formed are left out, extra ones too. */
export function readBrief(value: unknown): BriefDocument | undefined {
  const parsed = brief.safeParse(value)
  if (!parsed.success) return undefined
  const { peers, changed = [], changed_until: changedUntilMs, silent = [] } = parsed.data
  const { evidence_until: evidenceUntilMs, agents_until: agentsUntilMs } = parsed.data
  return {
    statement: parsed.data.node.statement,
    peers: peers.slice(0, relayedMax).flatMap(readNamed),
    changed: changed.slice(0, changedMax).flatMap((entry) => {
      const text = isRecord(entry) ? entry.statement : undefined
      const [one] = readNamed(entry)
      return one !== undefined && typeof text === 'string' && text.length <= statementCharsMax
        ? [{ ...one, statement: text }]
        : []
    }),
    ...{ changedUntilMs, evidenceUntilMs, agentsUntilMs },
    silent: silent.slice(0, silentMax).filter((did) => typeof did === 'string' && did.length <= 300) as string[],
  }
}

const addressesMax = 4_096
const addresses = new Map<string, NodeAddress>()

/** Every peer names the same ones at every visit. */
function addressOf(text: string): NodeAddress | undefined {
  const known = addresses.get(text) ?? parseNodeAddress(text)
  if (addresses.size >= addressesMax) addresses.clear()
  if (known !== undefined) addresses.set(text, known)
  return known
}

function readNamed(entry: unknown): { did: string; origin: string; sequence: number }[] {
  const read = named.safeParse(entry)
  if (!read.success) return []
  const address = addressOf(read.data.address)
  return address?.did === read.data.did ? [{ ...address, sequence: read.data.sequence }] : []
}
