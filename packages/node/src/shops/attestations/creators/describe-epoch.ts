import { type Address, checksumAddress } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import type { Sql } from '@assay/till/store/database'
import { acceptedDistributors } from './distributors.ts'

const leavesPerPage = 200

type Root = {
  id: bigint
  contract: Address
  root: Buffer
  pot_micro: Micro
  leaves: number
  state: string
  adopted: boolean
  transaction: string | null
  opens_at: Date | null
}

/** A root with its leaves, and for each wallet the shares that they sum: by these the log can be compared with the chain. */
export async function describeEpoch(
  { database }: { database: Sql },
  { network, epoch, distributor, from }: { network: string; epoch: bigint; distributor?: Address; from: number },
) {
  const contract = distributor ?? (await acceptedDistributors(database, network))[0]?.contract
  const { rows } = await database.query<Root>(
    `select id, contract, root, pot_micro, leaves, state, adopted, transaction, opens_at from creator_root
     where network = $1 and contract = $3 and epoch = $2 and state in ('signed', 'committed') order by id desc limit 1`,
    [network, epoch, contract],
  )
  const [root] = rows
  if (!root)
    throw new Problem('not_found', {
      detail: `${network} has no epoch ${epoch} at ${contract ? checksumAddress(contract) : 'any distributor'}.`,
    })
  const leaves = await readPage(database, root.id, from)
  return {
    network,
    distributor: checksumAddress(root.contract),
    epoch: String(epoch),
    root: toHex(root.root),
    pot_micro: String(root.pot_micro),
    state: root.state,
    adopted: root.adopted,
    commit_transaction: root.transaction,
    opens_at: root.opens_at && toRfc3339(root.opens_at.getTime()),
    leaf_count: root.leaves,
    leaves,
    next: from + leaves.length < root.leaves ? from + leaves.length : null,
  }
}

async function readPage(sql: Sql, rootId: bigint, from: number) {
  const { rows } = await sql.query<{ account: Buffer; domain: string | null; wallet: Address; micro: Micro }>(
    `select account, domain, wallet, micro from creator_leaf where root_id = $1 order by account, wallet collate "C"
     offset $2 limit ${leavesPerPage}`,
    [rootId, from],
  )
  const shares = await readShares(
    sql,
    rootId,
    rows.map(({ wallet }) => wallet),
  )
  return rows.map(({ account, domain, wallet, micro }) => ({
    account: toHex(account),
    domain,
    wallet: checksumAddress(wallet),
    micro: String(micro),
    shares: shares.get(`${wallet} ${domain}`) ?? [],
    // Payments that were reversed after an earlier root had paid their share.
    set_off: shares.get(`${wallet} -`) ?? [],
  }))
}

type ShareView = { id: string; micro: string; log_index: string | null }

async function readShares(sql: Sql, rootId: bigint, wallets: readonly Address[]): Promise<Map<string, ShareView[]>> {
  const { rows } = await sql.query<{
    wallet: Address
    domain: string
    subject: string
    micro: Micro
    log_index: bigint | null
  }>(
    `select a.wallet, coalesce(a.payee_domain, a.domain) as domain, a.subject, a.micro,
       (select e.leaf_index from log_entry e where e.subject = a.subject) as log_index
     from creator_accrual a where a.root_id = $1 and a.wallet = any($2) order by a.id`,
    [rootId, [...new Set(wallets)]],
  )
  const shares = new Map<string, ShareView[]>()
  for (const { wallet, domain, subject, micro, log_index } of rows) {
    const key = `${wallet} ${micro < 0n ? '-' : domain}`
    const view = { id: subject, micro: String(micro), log_index: log_index === null ? null : String(log_index) }
    shares.set(key, [...(shares.get(key) ?? []), view])
  }
  return shares
}
