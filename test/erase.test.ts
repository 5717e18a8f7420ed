import { expect, test } from 'vitest'
import type { Address } from '../packages/protocol/src/address.ts'
import { readAudit } from '../packages/till/src/store/audit-log.ts'
import { erasePersonalData, NotErasable } from '../packages/till/src/store/erase-personal-data.ts'
import { useTestDatabase } from '../packages/till/src/store/use-database.fixture.ts'

const db = await useTestDatabase()
const [wallet, other, busy]: Address[] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`, `0x${'c'.repeat(40)}`]

/** Something in each place, for each of these wallets. */
async function live(owner: Address, { final = true } = {}): Promise<void> {
  const id = `pay_${owner.slice(2, 28)}`
  await db.owner.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    await tx.query(
      `insert into payment (id, state, network, asset, payer, scheme, payment_key, pay_to, payee, quoted_micro, amount_micro, valid_before,
         route_id, resource, fingerprint, revocable, owner, lease_until, claimed_at, head_block, final, ended_at, delivered_at)
       values ($1, 'served', 'eip155:8453', 'eip155:8453/erc20:0xa', $2, 'exact', sha256('x'), '0x', 'pay_to', 1, 1, 0, 'route',
         'https://node.example/v1/search?q=secret', '', false, 1, now(), now(), 1, $3, now(), now())`,
      [id, owner, final],
    )
    await tx.query(
      `with c as (insert into claim (payer, network, payment_key, payment_id) values ($2, 'eip155:8453', sha256('x'), $1)),
         ca as (insert into call_answer (call_id, account, status, content_type, body) values ('call_' || $1, $2, 200, 'text/plain', 'secret')),
         a as (insert into payment_answer (payment_id, payer, status, content_type, body) values ($1, $2, 200, 'text/plain', 'secret')),
         d as (insert into payment_dispute (id, payment_id, payer, text, state, opened_at, decided_at, decision)
           values ('dsp_' || $1, $1, $2, 'my secret', 'rejected', now(), now(), 'no')),
         n as (insert into notification_endpoint (id, wallet, kind, target, state, created_at, changed_at)
           values ('ep_' || $1, $2, 'email', $2 || '@example.org', 'active', now(), now())),
         w as (insert into notification_watch (id, wallet, endpoint, topic, subject, paid, created_at)
           values ('w_' || $1, $2, 'ep_' || $1, 'payment.final', $2, false, now())),
         q as (insert into match_query (id, payer, query, pages, asked_at) values ('q_' || $1, $2, 'secret', '[]', now())),
         s as (insert into matrix_screen (id, wallet, name, query, symbols, changed_at)
           values ('scr_' || md5($2), $2, 'mine', '{}', '{}', now())),
         g as (insert into agent (subject, wallet, version, submitted_by, created_at, updated_at) values ($2, $2, 1, '192.0.2.1', now(), now())),
         v as (insert into agent_version (subject, version, document, signer, declared_at) values ($2, 1, '{}', $2, now())),
         o as (insert into agent_signed (subject, sequence, version, document, received_at) values ($2, 1, 1, '{}', now())),
         b as (insert into agent_capability (capability, subject) values ('search', $2))
       insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, to_clearing, idempotency_key, state, held_at,
         expires_at, ended_at)
       values ('call_' || $1, 'credit', $2, 'eip155:8453', 1, 'route', '', false, 'name', 'captured', now(), now(), now())`,
      [id, owner],
    )
  })
}

/** All that the database says of a wallet, by table. */
async function known(of: Address): Promise<Record<string, string[]>> {
  const { rows: tables } = await db.owner.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'audit_log'`,
  )
  const found: Record<string, string[]> = {}
  for (const { name } of tables) {
    const { rows } = await db.owner.query<{ row: string }>(
      `select to_jsonb(t)::text as row from ${name} t where to_jsonb(t)::text like '%' || $1 || '%' order by 1`,
      [of],
    )
    if (rows.length > 0) found[name] = rows.map(({ row }) => row)
  }
  return found
}

const erase = (of: Address, dryRun = false) => erasePersonalData(db.database, { wallet: of, actor: 'test', dryRun })

test('what need not be kept of a wallet is erased, its books stay, and nobody else is touched', async () => {
  for (const owner of [wallet, other]) await live(owner as Address)
  const [before, others] = [await known(wallet as Address), await known(other as Address)]
  const would = await erase(wallet as Address, true)
  expect(await known(wallet as Address), 'a dry run changes nothing').toEqual(before)
  const done = await erase(wallet as Address)
  expect(done).toEqual(would)
  expect(done.erased.filter(({ rows }) => rows === 0).map(({ place }) => place)).toEqual([])
  expect(done.kept.map(({ place }) => place)).toEqual(['audit_log.actor', 'invoice.document', 'payment.payer'])
  const left = await known(wallet as Address)
  expect(Object.keys(left).sort()).toEqual(['agent', 'claim', 'entitled_call', 'payment', 'payment_dispute'])
  expect(JSON.stringify(left)).not.toMatch(/secret|192\.0\.2\.1/)
  expect(left['claim']).toEqual(before['claim'])
  expect(await known(other as Address)).toEqual(others)
  const [last] = await readAudit(db.database, { limit: 1 })
  expect(last).toMatchObject({ action: 'erase', subject: wallet, details: { 'payment_answer.body': 1 } })
  expect(
    (await erase(wallet as Address)).erased.filter(({ rows }) => rows > 0),
    'nothing is left to erase',
  ).toEqual([])
})

test('while something of a wallet is under way nothing is erased', async () => {
  await live(busy as Address, { final: false })
  const before = await known(busy as Address)
  await expect(erase(busy as Address)).rejects.toThrow(NotErasable)
  expect(await known(busy as Address)).toEqual(before)
})

test('no rule changes the books, and the node could not', async () => {
  const { rows } = await db.database.query<{ table: string }>(
    `select split_part(regexp_replace(erase, '^(update|delete from) ', ''), ' ', 1) as table from personal_data where erase is not null`,
  )
  expect(
    rows.filter(({ table }) => /^(claim|transfer|payout|refund|invoice|audit_log|ledger_.*|books_.*)$/.test(table)),
  ).toEqual([])
  await db.owner.query(
    `insert into personal_data (place, what, erase) values ('x', 'x', 'delete from ledger_transaction where reference = $1')`,
  )
  await expect(erase(wallet as Address)).rejects.toThrow()
  await db.owner.query(`delete from personal_data where place = 'x'`)
})
