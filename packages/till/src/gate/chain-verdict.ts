import type { ChainPort } from '../chain/index.ts'
import type { PaymentRecord } from '../contract/payment-record.ts'
import type { Scheme, SchemeEvidence } from '../contract/scheme.ts'
import { resolveUnknown, type UnknownFacts } from '../transitions/resolve-unknown.ts'
import type { SettlementResult } from '../transitions/settlement-result.ts'
import { sinceClaim } from './settle-payment.ts'

/** Reads only the facts that the verdict on an unknown payment needs. */
export async function chainVerdict(
  { evidence, reasons }: Pick<Scheme, 'evidence' | 'reasons'>,
  chain: ChainPort,
  payment: PaymentRecord,
): Promise<SettlementResult> {
  let facts: UnknownFacts = {}
  const read = createReads(evidence, chain, payment)
  for (;;) {
    const verdict = resolveUnknown(payment, facts, reasons)
    if (verdict.status !== 'need') return verdict
    facts = { ...facts, ...(await read[verdict.fact]()) }
  }
}

type Reads = { [Fact in keyof UnknownFacts]-?: () => Promise<UnknownFacts> }

/** The key is read again at the very block whose time was read: another endpoint may be behind. */
function createReads(evidence: SchemeEvidence, chain: ChainPort, payment: PaymentRecord): Reads {
  const usedAt = (block: bigint | 'latest') => evidence.isUsed(chain, payment, block)
  let head = 0n
  let final = 0n
  return {
    byTransaction: async () => ({
      byTransaction: await evidence.byTransaction(chain, payment, payment.transaction as `0x${string}`),
    }),
    used: async () => ({ used: await usedAt('latest') }),
    byKey: async () => ({ byKey: await evidence.byKey(chain, payment, sinceClaim(payment.headBlock)) }),
    headTime: async () => {
      const block = await chain.head()
      head = block.number
      return { headTime: block.timestamp }
    },
    usedAtHead: async () => ({ usedAtHead: await usedAt(head) }),
    finalTime: async () => {
      const block = await chain.finalizedBlock()
      final = block.number
      return { finalTime: block.timestamp }
    },
    usedAtFinal: async () => ({ usedAtFinal: await usedAt(final) }),
  }
}
