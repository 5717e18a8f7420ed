import type { Database, Sql } from '@assay/till/store/database'
import type { RetentionRule } from '@assay/till/store/retention'

/** Folder of the migrations that make the table. */
export const routeShopMigrations = new URL('./migrations/', import.meta.url)

export const routeShopRetention: RetentionRule = {
  tables: ['route_shop'],
  addedBy: 'node',
  kept: 'while the route is there',
  why: 'a row a route',
  deletedBy: 'the next start',
}

/** Stored in the database: a command that reads revenue there knows no routes. Routes that are gone belong to no shop. */
export async function recordRouteShops(
  database: Database,
  routes: readonly { id: string; shop?: string }[],
): Promise<void> {
  const known = routes
    .flatMap(({ id, shop }) => (shop === undefined ? [] : [{ id, shop }]))
    // Processes that start together take the rows in one order.
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  await database.query(
    `with gone as (delete from route_shop where route_id <> all ($1))
     insert into route_shop as r (route_id, shop) select * from unnest($1::text[], $2::text[])
     on conflict (route_id) do update set shop = excluded.shop where r.shop <> excluded.shop`,
    [known.map(({ id }) => id), known.map(({ shop }) => shop)],
  )
}

export async function readRouteShops(sql: Sql): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql.query<{ route_id: string; shop: string }>('select route_id, shop from route_shop')
  return new Map(rows.map(({ route_id, shop }) => [route_id, shop]))
}
