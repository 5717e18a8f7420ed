import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import { writeAudit } from './audit-log.ts'
import type { Database, Sql } from './database.ts'
import { StoreError } from './errors.ts'

/** What makes a database this node's own. */
export type InstanceFacts = {
  mode: string
  /** CAIP-2 id and genesis hash of each chain. */
  chains: readonly { id: string; genesis: string }[]
  /** Asset address per CAIP-2 id. */
  assets: Readonly<Record<string, string>>
  /** Payee address per role and chain, such as `pay_to eip155:8453`. */
  payees: Readonly<Record<string, string>>
  /** The signing key; rotation records the new one with `recordInstanceKey`. */
  keyId: string
}

/** The database belongs to another till, or to this one under other settings. */
export class InstanceMismatch extends StoreError {
  readonly differences: readonly string[]

  constructor(differences: readonly string[], payeesHint: string) {
    const hint = differences.some((one) => one.startsWith('payees:')) ? `\n${payeesHint}` : ''
    const list = differences.map((one) => `  - ${one}`).join('\n')
    super(`this database belongs to another till, or to this one under other settings:\n${list}${hint}`)
    this.name = 'InstanceMismatch'
    this.differences = differences
  }
}

type Row = { mode: Json; chains: Json; assets: Json; payees: Json; key_id: Json }

const defaultPayeesHint = 'If PAY_TO or CUSTODY was changed on purpose: assay payees change --reason "…"'

/** Writes the facts at the first start and compares them at each later one, so demo data can never reach production. */
export async function ensureInstance(
  database: Sql,
  facts: InstanceFacts,
  payeesHint = defaultPayeesHint,
): Promise<'written' | 'same'> {
  const wanted = asRow(facts)
  const { rowCount } = await database.query(
    `insert into instance (mode, chains, assets, payees, key_id) values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [wanted.mode, ...[wanted.chains, wanted.assets, wanted.payees].map(canonicalJson), wanted.key_id],
  )
  if (rowCount === 1) return 'written'
  const { rows } = await database.query<Row>('select mode, chains, assets, payees, key_id from instance')
  const stored = rows[0]
  if (!stored) throw new StoreError('the instance row could not be read')
  const differences = (Object.keys(wanted) as (keyof Row)[])
    .filter((field) => canonicalJson(stored[field]) !== canonicalJson(wanted[field]))
    .map(
      (field) =>
        `${field}: the database has ${canonicalJson(stored[field])}, the settings ${canonicalJson(wanted[field])}`,
    )
  if (differences.length > 0) throw new InstanceMismatch(differences, payeesHint)
  return 'same'
}

function asRow(facts: InstanceFacts): Row {
  return {
    mode: facts.mode,
    chains: [...facts.chains].sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ id, genesis }) => ({ id, genesis })),
    assets: { ...facts.assets },
    payees: { ...facts.payees },
    key_id: facts.keyId,
  }
}

/** The key id last recorded; undefined before the first start. */
export async function readInstanceKey(sql: Sql): Promise<string | undefined> {
  const { rows } = await sql.query<{ key_id: string }>('select key_id from instance')
  return rows[0]?.key_id
}

export async function recordInstanceKey(database: Database, keyId: string, by: string): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('update instance set key_id = $1', [keyId])
    await writeAudit(tx, { actor: by, action: 'instance.key', subject: keyId, details: {} })
  })
}

/** The value that names this database, and every copy restored from a backup of it. */
export async function readDatabaseId(sql: Sql): Promise<string> {
  const { rows } = await sql.query<{ id: string }>('select id::text as id from database_identity')
  const id = rows[0]?.id
  if (id === undefined) throw new StoreError('the database has no id')
  return id
}
