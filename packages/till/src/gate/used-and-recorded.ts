import type { ChainPort } from '../chain/index.ts'
import type { SchemeEvidence } from '../contract/scheme.ts'
import { recordedUpTo } from '../ledger/index.ts'
import type { Sql } from '../store/database.ts'

/**
 * Whether the key was used by the last block up to which every transfer has its row: then what it brought us, if anything, is
 * among the rows. The newest final block is no measure: on a chain that finalizes every few seconds it is always ahead of them.
 */
export async function isUsedAndRecorded(
  sql: Sql,
  chain: ChainPort,
  evidence: SchemeEvidence,
  payment: Parameters<SchemeEvidence['isUsed']>[1] & { network: string },
): Promise<boolean> {
  const recorded = await recordedUpTo(sql, payment.network)
  return recorded >= 0n && (await evidence.isUsed(chain, payment, recorded))
}
