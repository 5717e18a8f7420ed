import type { Address } from '@assay/protocol/address'
import { strangers } from '@assay/protocol/mesh/weigh-evidence'
import type { MeshDeps } from './deps.ts'
import { knownPayers } from './evidence-store.ts'

/** Who counts as one payer: its funding cluster where it paid this node itself. */
export async function groupPayers(
  { database, relatedParties }: Pick<MeshDeps, 'database' | 'relatedParties'>,
  payers: readonly string[],
): Promise<(payer: string) => string> {
  const wallets = [...new Set(payers)]
  if (wallets.length === 0) return () => strangers
  const [known, clusters] = await Promise.all([
    knownPayers(database, wallets),
    relatedParties(database, wallets as Address[]),
  ])
  return (payer) => (known.has(payer) ? (clusters.get(payer as Address) ?? payer) : strangers)
}
