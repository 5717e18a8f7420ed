import { sha256 } from '../../packages/till/src/kernel/bytes.ts'
import type { Database, Sql, Statement } from '../../packages/till/src/store/database.ts'
import type { Plant } from './world.ts'

/** Statements of one name are answered by `change`, in transactions and outside of them. */
function plantStatement(name: string, change: (sql: Sql, statement: Statement) => ReturnType<Sql['query']>): Plant {
  const alter = <T extends Sql>(sql: T): T => ({
    ...sql,
    query: ((statement, values) =>
      typeof statement !== 'string' && statement.name === name
        ? change(sql, statement)
        : sql.query(statement, values)) as Sql['query'],
  })
  return (intercept) => ({
    ...intercept,
    database: (real) => {
      const crashable = intercept.database?.(real) ?? real
      const altered: Database = {
        ...alter(crashable),
        transaction: (work) => crashable.transaction((tx) => work(alter(tx))),
      }
      return altered
    },
  })
}

const withColumn = (statement: Statement, column: number, of: (value: unknown) => unknown): Statement => ({
  ...statement,
  values: (statement.values ?? []).map((values, index) => (index === column ? (values as unknown[]).map(of) : values)),
})

const kindsAt = (statement: Statement, column: number) => (statement.values?.[column] ?? []) as string[]

const plantLostPostings = plantStatement('ledger_post', async (sql, statement) => {
  const kinds = kindsAt(statement, 5)
  if (!kinds.includes('sale')) return sql.query(statement)
  const rows = kinds.map((_, place) => ({ place, transaction_id: 1n, is_new: true }))
  return { rows, rowCount: rows.length } as never
})

const plantLostRewards = plantStatement('rewards_post_sales', async (sql, statement) => {
  const kinds = kindsAt(statement, 22)
  return kinds.includes('sale')
    ? ({ rows: [{ count: BigInt(kinds.length) }], rowCount: 1 } as never)
    : sql.query(statement)
})

let claims = 0

/** Mistakes a node could have made, put between it and its database: the simulation must find each of them. */
export const plantedFaults: Readonly<Record<string, Plant>> = {
  /** Every copy of a payment is claimed as if it were the first. */
  'no claim': plantStatement('payment-claim', (sql, statement) =>
    sql.query(
      withColumn(statement, 4, (nonce) => {
        claims += 1
        return sha256(`${(nonce as Buffer).toString('hex')}:${claims}`)
      }),
    ),
  ),
  /** A new authorization for a request whose first payment is still under way is settled as well. */
  'double settle': plantStatement('payment-claim', (sql, statement) =>
    sql.query(withColumn(statement, 18, () => true)),
  ),
  /** A sale whose money never reaches the books, neither alone nor with what it is rewarded with. */
  'missing posting': (intercept) => plantLostRewards(plantLostPostings(intercept)),
  /** A call from credit whose price is not charged. */
  'free draw': plantStatement('credit_reserve', (sql, statement) => sql.query(withColumn(statement, 3, () => 0n))),
  /** A citation that is stamped and not logged. */
  'lost leaf': plantStatement('log_append', async (sql, statement) => {
    const kinds = (statement.values?.[0] ?? []) as string[]
    return kinds.includes('citation') ? { rows: [], rowCount: 0 } : sql.query(statement)
  }),
  /** A creator who is owed twice what the books say. */
  'double share': plantStatement('creator_accrue', (sql, statement) =>
    sql.query(withColumn(statement, 11, (micro) => BigInt(micro as bigint) * 2n)),
  ),
}
