import type { Address } from '@assay/protocol/address'
import type { Sql } from '@assay/till/store/database'

/** Signs that a citation is somebody citing himself. It is paid as it was paid, held for a while, and counts for nothing. */
export type WashSign = 'payer_is_creator' | 'agent_is_creator' | 'same_funding_cluster' | 'reciprocal' | 'burst'

export type WashParties = {
  /** The stamp it is for: the pages of one claim say nothing about each other. */
  subject: string
  agent: Address
  payer: Address
  creator: Address | undefined
  /** Names under which somebody may have claimed a page that nobody has proven yet. */
  names?: readonly string[]
  registrable: string
  nowMs: number
}

const burstWindowMs = 600_000
const burstCount = 20
const burstShare = 0.9
const reciprocalMs = 30 * 86_400_000

type Found = { clustered: boolean; reciprocal: boolean; recent: string[] }

/** Wash-trading signs of each citation. A citation later in the list is checked against those before it too. */
export async function findWashSigns(sql: Sql, list: readonly WashParties[]): Promise<WashSign[][]> {
  const nowMs = Math.max(0, ...list.map((parties) => parties.nowMs))
  const { rows } = await sql.query<Found>({
    name: 'attest_wash',
    text: `select
        exists (select from citing_agent a join citing_agent c on c.cluster = a.cluster
          where a.agent in (p.agent, p.payer) and c.agent = p.creator and a.agent <> c.agent) as clustered,
        exists (select from attestation where payer = p.creator and creator in (p.agent, p.payer) and created_at > $4) as reciprocal,
        array(select registrable from attestation where agent = p.agent and created_at > $5
          order by created_at desc limit $6) as recent
      from unnest($1::text[], $2::text[], $3::text[]) with ordinality p (agent, payer, creator, place) order by p.place`,
    values: [
      list.map(({ agent }) => agent),
      list.map(({ payer }) => payer),
      list.map(({ creator }) => creator ?? ''),
      new Date(nowMs - reciprocalMs),
      new Date(nowMs - burstWindowMs),
      burstCount,
    ],
  })
  const claimed = await findClaimants(sql, list)
  return list.map((parties, index) => {
    const { clustered, reciprocal, recent } = rows[index] as Found
    const before = firstOfEach(list.slice(0, index)).filter(({ subject }) => subject !== parties.subject)
    const own = before.filter(({ agent }) => agent === parties.agent).map(({ registrable }) => registrable)
    return signsOf(
      { ...parties, creator: parties.creator ?? claimed.get(index) },
      {
        clustered,
        reciprocal: reciprocal || before.some((earlier) => isAnswerTo(parties, earlier)),
        recent: [...own.reverse(), ...recent],
      },
    )
  })
}

/** Anyone who registered a source and cites it before it is proven cites himself all the same. By place in the list. */
async function findClaimants(sql: Sql, list: readonly WashParties[]): Promise<Map<number, Address>> {
  const open = list.flatMap(({ creator, names = [], agent, payer }, place) =>
    creator === undefined ? names.map((name) => ({ place, name, agent, payer })) : [],
  )
  if (open.length === 0) return new Map()
  const { rows } = await sql.query<{ place: number; wallet: Address }>({
    name: 'attest_claimants',
    text: `select distinct on (p.place) p.place, w.agent as wallet
      from unnest($1::integer[], $2::text[], $3::text[], $4::text[]) p (place, name, agent, payer)
      join source_claim c on c.domain = p.name and c.state in ('open', 'waiting', 'proven')
      cross join lateral (select p.agent union select p.payer) w (agent)
      where c.wallet = w.agent or exists (select from citing_agent a join citing_agent m on m.cluster = a.cluster
        where a.agent = c.wallet and m.agent = w.agent) order by p.place, w.agent`,
    values: [
      open.map(({ place }) => place),
      open.map(({ name }) => name),
      open.map(({ agent }) => agent),
      open.map(({ payer }) => payer),
    ],
  })
  return new Map(rows.map(({ place, wallet }) => [place, wallet]))
}

/** A claim is kept with its first page, and counts as that one. */
const firstOfEach = (list: readonly WashParties[]): readonly WashParties[] =>
  list.filter(({ subject }, index) => list[index - 1]?.subject !== subject)

const isAnswerTo = ({ agent, payer, creator }: WashParties, earlier: WashParties): boolean =>
  creator !== undefined && earlier.payer === creator && (earlier.creator === agent || earlier.creator === payer)

function signsOf({ agent, payer, creator, registrable }: WashParties, found: Found): WashSign[] {
  const signs: WashSign[] = []
  if (creator !== undefined && payer === creator) signs.push('payer_is_creator')
  if (creator !== undefined && agent === creator) signs.push('agent_is_creator')
  if (found.clustered) signs.push('same_funding_cluster')
  if (found.reciprocal && agent !== creator && payer !== creator) signs.push('reciprocal')
  if (isBurst([registrable, ...found.recent].slice(0, burstCount + 1))) signs.push('burst')
  return signs
}

/** Many citations in a short time that almost all go to one domain. */
export function isBurst(recent: readonly string[]): boolean {
  if (recent.length <= burstCount) return false
  const [newest] = recent
  return recent.filter((domain) => domain === newest).length >= burstShare * recent.length
}
