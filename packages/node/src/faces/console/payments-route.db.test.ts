import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { readPayments } from './payments-route.ts'

const db = await useTestDatabase()
const [often, seldom] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]
const idOf = (n: number) => `pay_${String(n).padStart(26, '0')}`

// Every tenth is of a second wallet, every seventh failed; the last five have not ended.
await db.owner.query(
  `insert into payment (id, state, network, asset, payer, scheme, payment_key, pay_to, payee, quoted_micro, amount_micro, valid_before,
     route_id, resource, fingerprint, revocable, owner, lease_until, claimed_at, head_block, final, ended_at)
   select 'pay_' || lpad(n::text, 26, '0'), case when n > 1195 then 'unknown' when n % 7 = 0 then 'failed' else 'served' end, 'eip155:8453',
     'eip155:8453/erc20:0xa', case when n % 10 = 0 then $2 else $1 end, 'exact', sha256(n::text::bytea), '0x', 'pay_to', 1, 1, 0,
     'route.' || n % 2, '', '', false, 1, now(), now(), 1, n <= 1195, case when n <= 1195 then now() - (1200 - n) * interval '1 second' end
   from generate_series(1, 1200) n`,
  [often, seldom],
)

async function walk(query: { search?: string; state?: string }): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await readPayments(db.database, { ...query, limit: '40', ...(cursor ? { cursor } : {}) })
    found.push(...page.data.map(({ id }) => id))
    if (page.next_cursor === null) return found
    cursor = page.next_cursor
  }
}

const all = Array.from({ length: 1_200 }, (_, n) => 1_200 - n)
const ids = (numbers: readonly number[]) => numbers.map(idOf)

test.each([
  ['all of them', {}, ids(all)],
  ['of a wallet that paid often', { search: often }, ids(all.filter((n) => n % 10 !== 0))],
  ['of one that seldom did', { search: seldom.toUpperCase().replace('X', 'x') }, ids(all.filter((n) => n % 10 === 0))],
  [
    'of a wallet in a state',
    { search: seldom, state: 'failed' },
    ids(all.filter((n) => n % 10 === 0 && n % 7 === 0 && n <= 1_195)),
  ],
  ['in a state that is over', { state: 'failed' }, ids(all.filter((n) => n % 7 === 0 && n <= 1_195))],
  ['in a state that is not', { state: 'unknown' }, ids(all.filter((n) => n > 1_195))],
  ['of a route', { search: 'route.1' }, ids(all.filter((n) => n % 2 === 1))],
  ['of a route, under way', { search: 'route.1', state: 'unknown' }, ids([1_199, 1_197])],
  ['by its id', { search: idOf(7) }, ids([7])],
  ['by its id, in another state', { search: idOf(7), state: 'served' }, []],
])('an operator finds payments %s, page by page, each once and the newest first', async (_, query, expected) => {
  expect(await walk(query)).toEqual(expected)
})
