import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { shopList } from '../packages/node/src/shop-list.ts'
import { type RetentionRule, tillRetention } from '../packages/till/src/store/retention.ts'
import { useTestDatabase } from '../packages/till/src/store/use-database.fixture.ts'

const db = await useTestDatabase()
const page = readFileSync(new URL('../docs/retention.md', import.meta.url), 'utf8')

const ruleOf = ({ tables, addedBy: who, kept, why = '', deletedBy = '' }: RetentionRule) => {
  const jobs = [...deletedBy.matchAll(/`([a-z_]+\.[a-z_.]+)/g)].map(([, name]) => name as string)
  return { tables, who, kept, why, deletedBy, jobs }
}

const rules = [tillRetention, ...shopList.map(({ retention }) => retention)].flat().map(ruleOf)

const pattern = (name: string) => new RegExp(`^${name.replaceAll('*', '.+')}$`)
const rulesOf = (table: string) => rules.filter(({ tables }) => tables.some((name) => pattern(name).test(table)))

async function tablesOfNode(): Promise<string[]> {
  const { rows } = await db.owner.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  )
  return rows.map(({ name }) => name)
}

test('every table has one rule for how long its rows are kept, and every rule its tables', async () => {
  const tables = await tablesOfNode()
  expect(tables.filter((table) => rulesOf(table).length !== 1)).toEqual([])
  const named = rules.flatMap((rule) => rule.tables)
  expect(named.filter((name) => !tables.some((table) => pattern(name).test(table)))).toEqual([])
})

test('a shop has rules for its own tables alone', () => {
  for (const { name, retention, migrations } of shopList.filter(({ name }) => name !== 'log')) {
    const made = migrations
      .flatMap((folder) =>
        readdirSync(folder)
          .filter((file) => file.endsWith('.sql'))
          .map((file) => new URL(file, folder)),
      )
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/create (?:unlogged )?table (\w+)/g)])
      .map(([, table = '']) => table)
    const named = retention.flatMap(({ tables }) => tables).filter((one) => !one.includes('*'))
    const others = named.filter((one) => !made.includes(one))
    expect(others, name).toEqual([])
  }
})

test('what costs its caller nothing ends by itself or says what bounds it', () => {
  expect(new Set(rules.map(({ who }) => who))).toEqual(new Set(['payer', 'operator', 'node', 'anybody']))
  for (const { tables, who, kept, why } of rules)
    if (who === 'anybody' && /for ever/.test(kept)) expect([tables, why.length > 20]).toEqual([tables, true])
})

test('rows that are not kept for ever are deleted by somebody', () => {
  expect(rules.filter(({ kept, deletedBy }) => !kept.startsWith('for ever') && deletedBy === '')).toEqual([])
})

test('the jobs that delete rows are there', () => {
  const sources = ['till', 'node'].flatMap((name) => {
    const folder = new URL(`../packages/${name}/src/`, import.meta.url)
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !/(\.test|(^|\/)retention)\.ts$/.test(path))
      .map((path) => readFileSync(new URL(path, folder), 'utf8'))
  })
  const jobs = rules.flatMap((rule) => rule.jobs)
  expect(jobs.length).toBeGreaterThan(15)
  expect(jobs.filter((job) => !sources.some((text) => new RegExp(`['\`]${job}`).test(text)))).toEqual([])
})

test('tables that are cut by time are kept as long as the page says', async () => {
  const { rows } = await db.owner.query<{ name: string; keep: number | null; least: number | null }>(
    'select table_name as name, keep_days as keep, least_days as least from partitioned_table',
  )
  for (const { name, keep, least } of rows) {
    const [rule] = rulesOf(name)
    if (keep !== null) expect(rule?.kept, name).toContain(`${keep} days`)
    else expect(rule?.kept, name).toMatch(least === null ? /^for ever/ : new RegExp(`at least ${least}`))
  }
})

test('the page names every place of personal data, and what erasing does there', async () => {
  const section = page.split('\n## ').find((part) => part.startsWith('Personal data')) ?? ''
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((line) => {
    const [, places = '', , done = ''] = line.split('|').map((cell) => cell.trim())
    return [...places.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(
      ([, place]) => `${place} ${/^keeps it/.test(done) ? 'stays' : 'goes'}`,
    )
  })
  const { rows: rules } = await db.owner.query<{ rule: string }>(
    `select place || case when erase is null then ' stays' else ' goes' end as rule from personal_data`,
  )
  expect(named.sort()).toEqual(rules.map(({ rule }) => rule).sort())
  for (const { rule } of rules) {
    const [table, column] = rule.replace(/ .*/, '').split('.')
    const found = await db.owner.query(
      'select from information_schema.columns where table_name = $1 and column_name = $2',
      [table, column],
    )
    expect([rule, found.rowCount]).toEqual([rule, 1])
  }
})
