import type { Address } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import type { Payees } from '../contract/terms.ts'
import type { Database, Sql } from '../store/database.ts'

export type OwnAddress = {
  network: string
  address: Address
  payee: 'pay_to' | 'custody'
  exclusive: boolean
  retired: boolean
}

/** The addresses of this database: those paid to now, and earlier ones that may still receive money. */
export type OwnAddresses = {
  isOurs(network: string, address: Address): boolean
  all(): readonly OwnAddress[]
}

/** Writes down what is paid to now. An address that is no longer configured is retired, and compared until it is empty. */
export async function recordOwnAddresses(
  database: Database,
  networks: readonly string[],
  payees: Payees,
  exclusive = true,
): Promise<OwnAddresses> {
  const now = networks.flatMap((network) =>
    (['pay_to', 'custody'] as const).flatMap((payee) => {
      const address = payees[payee][chainOfAsset(network)]
      return address === undefined ? [] : [{ network, payee, address }]
    }),
  )
  await database.transaction(async (tx) => {
    for (const { network, address, payee } of now)
      await tx.query(
        `insert into own_address (network, address, payee, exclusive) values ($1, $2, $3, $4)
         on conflict (network, address, payee) do update set exclusive = excluded.exclusive, retired_at = null`,
        [network, address, payee, exclusive],
      )
    await tx.query(
      `update own_address o set retired_at = now() where retired_at is null and not exists (
         select from unnest($1::text[], $2::text[], $3::text[]) n (network, address, payee)
         where n.network = o.network and n.address = o.address and n.payee = o.payee)`,
      [now.map(({ network }) => network), now.map(({ address }) => address), now.map(({ payee }) => payee)],
    )
  })
  return ownAddresses(database)
}

export async function ownAddresses(sql: Sql): Promise<OwnAddresses> {
  const { rows } = await sql.query<OwnAddress>(
    `select network, address, payee, exclusive, retired_at is not null as retired from own_address
     order by network, payee desc, since`,
  )
  const known = new Set(rows.map(({ network, address }) => `${network} ${address}`))
  return { isOurs: (network, address) => known.has(`${network} ${address}`), all: () => rows }
}
