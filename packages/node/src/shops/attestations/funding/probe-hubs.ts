import type { Address } from '@assay/protocol/address'
import { addressTopic, searchLogs, topicAddress, topics } from '@assay/till/chain'
import type { FundingDeps } from './deps.ts'

/** About an hour of blocks: an exchange or a bridge sends to many in it. */
const probeBlocks = 1_800n
const recipientsMin = 60
/** Anyone can send a cent to a thousand strangers and would look like an exchange. */
const servedMicro = 1_000_000n
/** If fewer than one in this many of its recipients cite here, a funder serves the public and not a group of citers. */
const strangersShare = 10
const refetchMs = 86_400_000
const probesMax = 20

/** A herd whose funder feeds it with many transfers is not the public: what distinguishes them is that a herd cites. */
export function servesThePublic(recipients: number, citing: number): boolean {
  return recipients >= recipientsMin && citing * strangersShare < recipients
}

export type Probed = { looked: number; changed: boolean }

/** Checks funders that were not checked for a day, and whether any of them is classified wrongly. */
export async function probeHubs(deps: FundingDeps, final: bigint): Promise<Probed> {
  const { database, clock, chain } = deps
  const network = chain.network.caip2
  const { rows } = await database.query<{ funder: Address; hub: boolean | null; gave: bigint[] }>(
    `select e.funder, h.hub, array[min(e.first_block), max(e.first_block)] as gave from funding_edge e
     left join funding_hub h on h.network = e.network and h.funder = e.funder
     where e.network = $1 and not e.funder = any($2) and (h.probed_at is null or h.probed_at < $3)
     group by e.funder, h.hub, h.probed_at order by h.probed_at nulls first, e.funder limit $4`,
    [network, [...deps.publicFunders], new Date(clock.nowMs() - refetchMs), probesMax],
  )
  let changed = false
  for (const { funder, hub: believed, gave } of rows) {
    const { recipients, hub } = await inspectNode(deps, funder, gave, final)
    if (hub !== believed) changed = true
    await database.query(
      `insert into funding_hub (network, funder, recipients, hub, probed_at) values ($1, $2, $3, $4, $5)
       on conflict (network, funder) do update set recipients = excluded.recipients, hub = excluded.hub, probed_at = excluded.probed_at`,
      [network, funder, recipients, hub, new Date(clock.nowMs())],
    )
  }
  return { looked: rows.length, changed }
}

/** An exchange changes its wallets: what counts is whom one served when it gave, first and last, not whom it serves now. */
async function inspectNode(
  deps: FundingDeps,
  funder: Address,
  gave: readonly bigint[],
  final: bigint,
): Promise<{ recipients: number; hub: boolean }> {
  const [first = 0n, last = first] = gave
  let most = 0
  for (const block of last - first > probeBlocks / 2n ? [first, last] : [last]) {
    const recipients = await recipientsUntil(
      deps,
      funder,
      block + probeBlocks / 2n < final ? block + probeBlocks / 2n : final,
    )
    const { rows } = await deps.database.query<{ n: number }>(
      'select count(*)::int as n from funding_wallet where network = $1 and hop = 0 and wallet = any($2)',
      [deps.chain.network.caip2, recipients],
    )
    if (servesThePublic(recipients.length, rows[0]?.n ?? 0)) return { recipients: recipients.length, hub: true }
    most = Math.max(most, recipients.length)
  }
  return { recipients: most, hub: false }
}

async function recipientsUntil({ rpc, chain }: FundingDeps, funder: Address, until: bigint): Promise<Address[]> {
  const logs = await searchLogs(rpc, {
    address: chain.network.usdc.address,
    topics: [topics.transfer, addressTopic(funder)],
    fromBlock: until < probeBlocks ? 0n : until - probeBlocks,
    toBlock: until,
  })
  const served = logs.filter(({ data }) => BigInt(data) >= servedMicro)
  return [...new Set(served.flatMap(({ topics: words }) => topicAddress(words[2] ?? '') ?? []))]
}
