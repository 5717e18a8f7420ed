import type { Address } from '@assay/protocol/address'
import { addressTopic, searchLogs, topicAddress, topics } from '@assay/till/chain'
import type { FundingDeps } from './deps.ts'

/** About an hour of blocks: an exchange or a bridge sends to many in it. */
const probeBlocks = 1_800n
const recipientsMin = 60
/** Of its recipients fewer than one in so many cite here: it serves the public, not its own herd. */
const strangersShare = 10
const againMs = 86_400_000
const probesMax = 20

/** A herd whose funder feeds it with many transfers is not the public: what distinguishes them is that a herd cites. */
export function servesThePublic(recipients: number, citing: number): boolean {
  return recipients >= recipientsMin && citing * strangersShare < recipients
}

/** Looks at funders that were not looked at for a day. Returns whether any of them turned out otherwise than believed. */
export async function probeHubs(deps: FundingDeps): Promise<boolean> {
  const { database, clock, chain } = deps
  const network = chain.network.caip2
  const { rows } = await database.query<{ funder: Address; hub: boolean | null }>(
    `select distinct e.funder, h.hub, h.probed_at from funding_edge e
     left join funding_hub h on h.network = e.network and h.funder = e.funder
     where e.network = $1 and not e.funder = any($2) and (h.probed_at is null or h.probed_at < $3)
     order by h.probed_at nulls first, e.funder limit $4`,
    [network, [...deps.publicFunders], new Date(clock.nowMs() - againMs), probesMax],
  )
  if (rows.length === 0) return false
  const final = (await chain.finalizedBlock()).number
  let changed = false
  for (const { funder, hub: believed } of rows) {
    const recipients = await recipientsOf(deps, funder, final)
    const { rows: citing } = await database.query<{ n: number }>(
      'select count(*)::int as n from funding_wallet where network = $1 and hop = 0 and wallet = any($2)',
      [network, recipients],
    )
    const hub = servesThePublic(recipients.length, citing[0]?.n ?? 0)
    if (hub !== (believed ?? false)) changed = true
    await database.query(
      `insert into funding_hub (network, funder, recipients, hub, probed_at) values ($1, $2, $3, $4, $5)
       on conflict (network, funder) do update set recipients = excluded.recipients, hub = excluded.hub, probed_at = excluded.probed_at`,
      [network, funder, recipients.length, hub, new Date(clock.nowMs())],
    )
  }
  return changed
}

async function recipientsOf({ rpc, chain }: FundingDeps, funder: Address, final: bigint): Promise<Address[]> {
  const logs = await searchLogs(rpc, {
    address: chain.network.usdc.address,
    topics: [topics.transfer, addressTopic(funder)],
    fromBlock: final < probeBlocks ? 0n : final - probeBlocks,
    toBlock: final,
  })
  return [...new Set(logs.flatMap(({ topics: words }) => topicAddress(words[2] ?? '') ?? []))]
}
