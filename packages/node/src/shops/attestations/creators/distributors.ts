import type { Address } from '@assay/protocol/address'
import { writeAudit } from '@assay/till/store/audit-log'
import type { Database, Sql } from '@assay/till/store/database'
import type { DistributorTerms } from './contracts.ts'

/** A contract that pays creators, with what is fixed in it. */
export type Distributor = {
  network: string
  contract: Address
  treasurer: Address
  mover: Address
  claimDelaySeconds: bigint
  moveDelaySeconds: bigint
  /** Null while only the settings ask for it. */
  acceptedAt: Date | null
}

export type WantedDistributor = Pick<Distributor, 'network' | 'contract' | 'treasurer'> & { terms: DistributorTerms }

const columns = `network, contract, treasurer, mover, claim_delay_seconds as "claimDelaySeconds",
  move_delay_seconds as "moveDelaySeconds", accepted_at as "acceptedAt"`

/** The current one of each chain first. */
export async function readDistributors(sql: Sql): Promise<Distributor[]> {
  const { rows } = await sql.query<Distributor>(
    `select ${columns} from creator_distributor order by network, accepted_at desc nulls last, contract`,
  )
  return rows
}

/** Those of a chain that were accepted, the current one first: it gets new roots, the others pay what they hold. */
export async function acceptedDistributors(sql: Sql, network: string): Promise<Distributor[]> {
  const { rows } = await sql.query<Distributor>(
    `select ${columns} from creator_distributor where network = $1 and accepted_at is not null
     order by accepted_at desc, contract`,
    [network],
  )
  return rows
}

/** The first one of a chain is accepted as it is; another one waits until the operator accepts it. */
export async function proposeDistributor(sql: Sql, { network, contract, treasurer, terms }: WantedDistributor) {
  await sql.query(
    `insert into creator_distributor (network, contract, treasurer, mover, claim_delay_seconds, move_delay_seconds, accepted_at)
     select $1, $2, $3, $4, $5, $6,
       case when exists (select from creator_distributor where network = $1) then null else clock_timestamp() end
     where not exists (select from creator_distributor where network = $1 and contract = $2) on conflict do nothing`,
    [network, contract, treasurer, terms.mover, terms.claimDelaySeconds, terms.moveDelaySeconds],
  )
}

/** From now on new roots go to this contract. Undefined when it gets them already; throws when no process asked for it. */
export async function acceptDistributor(
  database: Database,
  wanted: { network: string; contract: Address },
  by: { actor: string; reason: string },
): Promise<{ before: Address | undefined; after: Address } | undefined> {
  return database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`creator root ${wanted.network}`])
    const [current] = await acceptedDistributors(tx, wanted.network)
    if (current?.contract === wanted.contract) return undefined
    const { rowCount } = await tx.query(
      'update creator_distributor set accepted_at = clock_timestamp() where network = $1 and contract = $2',
      [wanted.network, wanted.contract],
    )
    if (rowCount === 0)
      throw new RangeError(`no process of this node has asked for ${wanted.contract} on ${wanted.network}`)
    await writeAudit(tx, {
      actor: by.actor,
      action: 'creators.distributor',
      subject: wanted.network,
      details: { before: current?.contract ?? null, after: wanted.contract, reason: by.reason },
    })
    return { before: current?.contract, after: wanted.contract }
  })
}
