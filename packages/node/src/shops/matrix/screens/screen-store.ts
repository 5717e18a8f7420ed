import type { Address } from '@assay/protocol/address'
import type { Database, Sql } from '@assay/till/store/database'
import type { FeedId } from '../feeds/feed.ts'

export type ScreenQuery = { sort?: string; filter?: string; min_score?: string; limit?: string }

/** A saved query of a feed; with symbols it is a watchlist, and without a feed one for all of them. */
export type Screen = {
  id: string
  name: string
  feed: FeedId | null
  query: ScreenQuery
  symbols: string[]
  changedAtMs: number
}

export const screensMax = 100
/** Saving costs nothing, so what is not changed again does not stay. */
export const screenDaysKept = 400
const deletedMax = 100
const columns = 'id, name, feed, query, symbols, changed_at'
type Row = Omit<Screen, 'changedAtMs'> & { changed_at: Date }
const toScreen = ({ changed_at, ...row }: Row): Screen => ({ ...row, changedAtMs: changed_at.getTime() })

export async function listScreens(sql: Sql, wallet: Address): Promise<Screen[]> {
  const { rows } = await sql.query<Row>(`select ${columns} from matrix_screen where wallet = $1 order by name`, [
    wallet,
  ])
  return rows.map(toScreen)
}

export async function findScreen(sql: Sql, id: string): Promise<Screen | undefined> {
  const { rows } = await sql.query<Row>({
    name: 'matrix_screen',
    text: `select ${columns} from matrix_screen where id = $1`,
    values: [id],
  })
  return rows[0] && toScreen(rows[0])
}

/** Under the same name it replaces the one before and keeps its id. Undefined: the wallet has as many as it may. */
export function saveScreen(
  database: Database,
  wallet: Address,
  screen: Omit<Screen, 'id'>,
  newId: () => string,
): Promise<Screen | undefined> {
  return database.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('matrix screens ' || $1, 0))`, [wallet])
    const own = await listScreens(tx, wallet)
    const known = own.find(({ name }) => name === screen.name)
    if (!known && own.length >= screensMax) return undefined
    await tx.query(
      `delete from matrix_screen where id in (select id from matrix_screen where changed_at < $1 order by changed_at limit $2
         for update skip locked)`,
      [new Date(screen.changedAtMs - screenDaysKept * 86_400_000), deletedMax],
    )
    const id = known?.id ?? newId()
    await tx.query(
      `insert into matrix_screen (id, wallet, name, feed, query, symbols, changed_at) values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (id) do update set feed = excluded.feed, query = excluded.query, symbols = excluded.symbols,
         changed_at = excluded.changed_at`,
      [
        id,
        wallet,
        screen.name,
        screen.feed,
        JSON.stringify(screen.query),
        screen.symbols,
        new Date(screen.changedAtMs),
      ],
    )
    return { ...screen, id }
  })
}

export async function removeScreen(sql: Sql, wallet: Address, id: string): Promise<boolean> {
  const { rowCount } = await sql.query('delete from matrix_screen where id = $1 and wallet = $2', [id, wallet])
  return rowCount > 0
}
