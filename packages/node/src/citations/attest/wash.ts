import type { Address } from '../../kernel/address.ts'
import type { Sql } from '../../store/database.ts'

/** Signs that a citation is somebody citing himself. It is paid as it was paid, held for a while, and counts for nothing. */
export type WashSign = 'payer_is_creator' | 'agent_is_creator' | 'same_funding_cluster' | 'reciprocal' | 'burst'

export type WashParties = {
  agent: Address
  payer: Address
  creator: Address | undefined
  registrable: string
  nowMs: number
}

const burstWindowMs = 600_000
const burstCount = 20
const burstShare = 0.9
const reciprocalMs = 30 * 86_400_000

export async function findWashSigns(sql: Sql, parties: WashParties): Promise<WashSign[]> {
  const { agent, payer, creator, registrable, nowMs } = parties
  const signs: WashSign[] = []
  if (creator !== undefined && payer === creator) signs.push('payer_is_creator')
  if (creator !== undefined && agent === creator) signs.push('agent_is_creator')
  const { rows } = await sql.query<{ clustered: boolean; reciprocal: boolean; recent: string[] }>({
    name: 'attest_wash',
    text: `select
        exists (select from citing_agent a join citing_agent c on c.cluster = a.cluster
          where a.agent in ($1, $2) and c.agent = $3 and a.agent <> c.agent) as clustered,
        exists (select from attestation where payer = $3 and creator in ($1, $2) and created_at > $4) as reciprocal,
        array(select registrable from attestation where agent = $1 and created_at > $5
          order by created_at desc limit $6) as recent`,
    values: [agent, payer, creator ?? '', new Date(nowMs - reciprocalMs), new Date(nowMs - burstWindowMs), burstCount],
  })
  const [found] = rows
  if (found?.clustered) signs.push('same_funding_cluster')
  if (found?.reciprocal && agent !== creator && payer !== creator) signs.push('reciprocal')
  if (isBurst([registrable, ...(found?.recent ?? [])])) signs.push('burst')
  return signs
}

/** Many citations in a short time that almost all go to one domain. */
export function isBurst(recent: readonly string[]): boolean {
  if (recent.length <= burstCount) return false
  const [newest] = recent
  return recent.filter((domain) => domain === newest).length >= burstShare * recent.length
}
