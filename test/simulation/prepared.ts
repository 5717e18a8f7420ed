import { sha256 } from '../../packages/till/src/kernel/bytes.ts'
import type { Database, Sql, Statement } from '../../packages/till/src/store/database.ts'

const names = new Map<string, string>()

/** A run asks the same few hundred questions thousands of times: each session plans a question once. */
function prepared(statement: string | Statement, values?: readonly unknown[]): string | Statement {
  const asked = typeof statement === 'string' ? { text: statement, ...(values ? { values } : {}) } : statement
  // Several statements in one text cannot be prepared.
  if (('name' in asked && asked.name !== undefined) || asked.text.includes(';')) return asked
  let name = names.get(asked.text)
  if (name === undefined) {
    name = `asked_${sha256(asked.text).toString('hex').slice(0, 24)}`
    names.set(asked.text, name)
  }
  return { ...asked, name }
}

/** The same database, every statement of which is prepared. */
export function preparingDatabase(database: Database, onAsked = () => {}): Database {
  const preparing = <T extends Sql>(sql: T): T => ({
    ...sql,
    query: ((statement, values) => {
      onAsked()
      return sql.query(prepared(statement, values))
    }) as Sql['query'],
  })
  return { ...preparing(database), transaction: (work) => database.transaction((tx) => work(preparing(tx))) }
}
