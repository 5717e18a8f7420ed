import type { Address } from '@assay/protocol/address'
import { addressTopic, type RpcLog, searchLogs, topicAddress, topics } from '@assay/till/chain'
import type { Tx } from '@assay/till/store/database'
import type { FundingDeps } from './deps.ts'
import { readFundingView } from './material.ts'
import { probeHubs } from './probe-hubs.ts'
import { createTrace } from './trace-funding.ts'

const partiesAtOnce = 5_000
const walletsAtOnce = 200
/** A run that finds more leaves the rest to the next. */
const batchesMax = 40
/** Dust is no funding: by sending it nobody must be able to pull a stranger into a cluster. */
export const fundingMicroMin = 10_000n
/** A funder that gave less than this share of what a wallet received is not recorded. */
const keptShare = 100n

type Batch = { wallets: Address[]; readTo: bigint | null; scannedTo: bigint | null }

/** Brings the index of who funded whom up to the final block. Returns whether anything new was found. */
export async function readFunding(deps: FundingDeps): Promise<boolean> {
  await watchParties(deps)
  const final = (await deps.chain.finalizedBlock()).number
  let [changed, found] = [false, true]
  for (let batches = 0; batches < batchesMax; batches += 1) {
    const probed = await probeHubs(deps, final)
    if (probed.changed) changed = true
    if (found || probed.looked > 0) await watchFunders(deps, final)
    const batch = await nextBatch(deps, final)
    if (!batch && probed.looked === 0) break
    if (!batch) continue
    const last = await scanUpToLastPiece(deps, batch, final)
    const received = await readTransfers(deps, batch.wallets, last.from, final)
    found = await store(deps, { ...batch, scannedTo: last.scannedTo }, received, final)
    if (found) changed = true
  }
  return changed
}

/** Everything but the last piece of a read, each piece stored with its sums before the next is asked for. */
async function scanUpToLastPiece(
  deps: FundingDeps,
  { wallets, readTo, scannedTo }: Batch,
  final: bigint,
): Promise<{ from: bigint; scannedTo: bigint | null }> {
  const { lookBackBlocks, blocksAtOnce } = deps.settings
  const first = final > lookBackBlocks ? final - lookBackBlocks : 0n
  let kept = scannedTo
  let from = (scannedTo ?? readTo ?? first - 1n) + 1n
  for (; final - from >= blocksAtOnce; from += blocksAtOnce) {
    const end = from + blocksAtOnce - 1n
    await storeRange(deps, { wallets, readTo, scannedTo: kept }, await readTransfers(deps, wallets, from, end), end)
    kept = end
  }
  return { from, scannedTo: kept }
}

/** Anyone who cites, pays for it or is paid. */
async function watchParties({ database, chain }: FundingDeps): Promise<void> {
  await database.query(
    `insert into funding_wallet (network, wallet, hop)
     select distinct $1, w.wallet, 0 from (
       select id, agent, payer from attestation where checked_at is null order by created_at desc limit $2) a,
     lateral (values (a.agent), (a.payer) union select c.wallet from creator_accrual c where c.subject = a.id) w (wallet)
     where w.wallet is not null
     on conflict (network, wallet) do update set hop = 0 where funding_wallet.hop > 0`,
    [chain.network.caip2, partiesAtOnce],
  )
}

/** A read that broke off goes first, then one that was never read; the others are read together with those that are as far. */
async function nextBatch({ database, chain, settings }: FundingDeps, final: bigint): Promise<Batch | undefined> {
  const { rows } = await database.query<{ wallet: Address; read_to: bigint | null; scanned_to: bigint | null }>(
    `select w.wallet, w.read_to, w.scanned_to from funding_wallet w, (
       select read_to, scanned_to from funding_wallet where network = $1 and hop < $2 and (read_to is null or read_to < $3)
       order by scanned_to is null, read_to nulls first limit 1) f
     where w.network = $1 and w.hop < $2 and (w.read_to is null or w.read_to < $3)
       and w.read_to is not distinct from f.read_to and w.scanned_to is not distinct from f.scanned_to
     order by w.wallet limit $4`,
    [chain.network.caip2, settings.hops, final, walletsAtOnce],
  )
  const [head] = rows
  return head && { wallets: rows.map(({ wallet }) => wallet), readTo: head.read_to, scannedTo: head.scanned_to }
}

export type Received = { wallet: Address; funder: Address; micro: bigint; firstBlock: bigint }

async function readTransfers(
  { rpc, chain }: FundingDeps,
  wallets: readonly Address[],
  from: bigint,
  until: bigint,
): Promise<Received[]> {
  const logs = await searchLogs(rpc, {
    address: chain.network.usdc.address,
    topics: [topics.transfer, null, wallets.map(addressTopic)],
    fromBlock: from,
    toBlock: until,
  })
  return sumTransfers(logs)
}

/** What each sender gave each wallet, and from when. A mint comes from nobody. */
export function sumTransfers(logs: readonly RpcLog[]): Received[] {
  const sums = new Map<string, Received>()
  for (const { topics: words, data, blockNumber } of logs) {
    const [funder, wallet] = [topicAddress(words[1] ?? ''), topicAddress(words[2] ?? '')]
    const micro = BigInt(data)
    if (!funder || !wallet || funder === wallet || micro === 0n) continue
    const key = `${wallet} ${funder}`
    const known = sums.get(key) ?? { wallet, funder, micro: 0n, firstBlock: BigInt(blockNumber) }
    known.micro += micro
    sums.set(key, known)
  }
  return [...sums.values()]
}

const columnsOf = (received: readonly Received[]) => [
  received.map(({ wallet }) => wallet),
  received.map(({ funder }) => funder),
  received.map(({ micro }) => micro),
  received.map(({ firstBlock }) => firstBlock),
]

/** How far a read has come, and what it found: both or, when somebody else was quicker, neither. */
async function storeRange(
  { database, chain }: FundingDeps,
  { wallets, readTo, scannedTo }: Batch,
  received: readonly Received[],
  end: bigint,
): Promise<void> {
  const network = chain.network.caip2
  await database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update funding_wallet set scanned_to = $3 where network = $1 and wallet = any($2)
         and read_to is not distinct from $4::bigint and scanned_to is not distinct from $5::bigint`,
      [network, wallets, end, readTo, scannedTo],
    )
    if (rowCount !== wallets.length) throw new Error('the index of funders was changed by somebody else')
    await tx.query(
      `insert into funding_partial as p (network, wallet, funder, micro, first_block)
       select $1, t.* from unnest($2::text[], $3::text[], $4::numeric[], $5::bigint[]) t
       on conflict (network, wallet, funder) do update set micro = p.micro + excluded.micro`,
      [network, ...columnsOf(received)],
    )
  })
}

/** What earlier pieces of this read found, joined with the last one. */
async function takePartial(tx: Tx, network: string, wallets: readonly Address[], last: readonly Received[]) {
  const { rows } = await tx.query<{ wallet: Address; funder: Address; micro: string; first_block: bigint }>(
    `delete from funding_partial where network = $1 and wallet = any($2)
     returning wallet, funder, micro::text as micro, first_block`,
    [network, wallets],
  )
  const sums = new Map(last.map((one) => [`${one.wallet} ${one.funder}`, { ...one }]))
  for (const { wallet, funder, micro, first_block } of rows) {
    const known = sums.get(`${wallet} ${funder}`)
    const earlier = { wallet, funder, micro: BigInt(micro) + (known?.micro ?? 0n), firstBlock: first_block }
    sums.set(`${wallet} ${funder}`, earlier)
  }
  return [...sums.values()]
}

/** Everything of a batch or, when somebody else was quicker, nothing: a transfer must not be counted twice. */
async function store(
  { database, chain }: FundingDeps,
  batch: Batch,
  last: readonly Received[],
  readTo: bigint,
): Promise<boolean> {
  const network = chain.network.caip2
  return database.transaction(async (tx) => {
    const received = batch.scannedTo === null ? last : await takePartial(tx, network, batch.wallets, last)
    const { rowCount } = await tx.query(
      `update funding_wallet w set read_to = $3, scanned_to = null, received_micro = received_micro + coalesce(s.micro, 0)
       from unnest($2::text[]) g (wallet) left join (
         select wallet, sum(micro) as micro from unnest($5::text[], $6::numeric[]) t (wallet, micro) group by wallet) s using (wallet)
       where w.network = $1 and w.wallet = g.wallet and w.read_to is not distinct from $4::bigint
         and w.scanned_to is not distinct from $7::bigint`,
      [
        network,
        batch.wallets,
        readTo,
        batch.readTo,
        received.map(({ wallet }) => wallet),
        received.map(({ micro }) => micro),
        batch.scannedTo,
      ],
    )
    if (rowCount !== batch.wallets.length) throw new Error('the index of funders was changed by somebody else')
    const stored = await tx.query(
      `insert into funding_edge (network, wallet, funder, micro, first_block)
       select $1, t.wallet, t.funder, t.micro, t.first_block
       from unnest($2::text[], $3::text[], $4::numeric[], $5::bigint[]) t (wallet, funder, micro, first_block)
       join funding_wallet w on w.network = $1 and w.wallet = t.wallet
       where t.micro >= $6 and t.micro * $7 >= w.received_micro
         or exists (select from funding_edge e where e.network = $1 and e.wallet = t.wallet and e.funder = t.funder)
       on conflict (network, wallet, funder) do update set micro = funding_edge.micro + excluded.micro`,
      [network, ...columnsOf(received), fundingMicroMin, keptShare],
    )
    return stored.rowCount > 0
  })
}

/** A wallet that passed on at least this share of a party's money is followed to its own funders. */
const shareWatched = 0.02

/**
 * Those a party's money passed through are watched too, as far as the steps go, each from some time before it first
 * gave: waiting between two transfers does not hide the first of them.
 */
async function watchFunders({ database, chain, publicFunders, settings }: FundingDeps, final: bigint): Promise<void> {
  const { parties, shares } = await readFundingView({ database, chain, publicFunders })
  const gaveFrom = new Map<string, bigint>()
  for (const { funder, firstBlock } of shares)
    gaveFrom.set(funder, firstBlock < (gaveFrom.get(funder) ?? final) ? firstBlock : (gaveFrom.get(funder) ?? final))
  const trace = createTrace(shares, settings.hops - 1)
  const found = new Map<string, number>()
  for (const party of parties)
    for (const { funder, share, hop } of trace.funders(party))
      if (share >= shareWatched) found.set(funder, Math.min(hop, found.get(funder) ?? hop))
  const wallets = [...found.keys()]
  await database.query(
    `insert into funding_wallet (network, wallet, hop, scanned_to)
     select $1, t.* from unnest($2::text[], $3::smallint[], $4::bigint[]) t on conflict do nothing`,
    [
      chain.network.caip2,
      wallets,
      wallets.map((wallet) => found.get(wallet)),
      wallets.map((wallet) => startOf(settings, gaveFrom.get(wallet) ?? final)),
    ],
  )
}

/** The block before the first one read, in whole pieces so that many are read together. */
function startOf({ lookBackBlocks, blocksAtOnce }: FundingDeps['settings'], gaveFrom: bigint): bigint | null {
  const first = ((gaveFrom - lookBackBlocks) / blocksAtOnce) * blocksAtOnce
  return first > 0n ? first - 1n : null
}
