import type { Tx } from '../../packages/till/src/store/database.ts'
import { checkTerminal, checkTransfers } from '../harness/check-transfers.ts'
import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'
import { booksOf, checkAnswers } from './check-answers.ts'
import { checkBooks } from './check-books.ts'
import { checkChannels } from './check-channels.ts'
import { checkLog } from './check-log.ts'
import { checkMoney } from './check-money.ts'

type Break = {
  rule: string
  what: string
  /** Copies of these tables hide the real ones, without keys and triggers, while the check runs. */
  tables: readonly string[]
  change: string
  look(scene: Scene): Promise<void>
}

const oneSale = `(select min(t.id) from ledger_transaction t where t.kind = 'sale' and not exists
  (select from ledger_entry e join ledger_account a on a.id = e.account_id where e.transaction_id = t.id and a.guarded))`

/** Two entries of one transaction that never was: so much more at `account`, so much more of revenue. */
const invented = (account: string, micro: number) => `
  insert into ledger_transaction select (jsonb_populate_record(null::ledger_transaction,
    to_jsonb(t) || '{"id": -1, "reference": "invented"}')).* from ledger_transaction t order by id limit 1;
  insert into ledger_entry (transaction_id, line, account_id, amount_micro)
    select -1, 0, (select id from ledger_account where name like '${account}' order by name limit 1), ${micro}
    union all select -1, 1, (select id from ledger_account where name like 'revenue:%' order by name limit 1), ${-micro}`

/** One way to break each rule that is asked of the tables: a checker that cannot fail checks nothing. */
export const breaks: readonly Break[] = [
  {
    rule: 'promise 4',
    what: 'a call of a channel that is charged twice',
    tables: ['channel_sale'],
    change: `insert into channel_sale select * from channel_sale`,
    look: checkBooks,
  },
  {
    rule: 'I6',
    what: 'a channel that was charged more than it bought',
    tables: ['channel'],
    change: `update channel set charged_micro = charged_micro + 1`,
    look: checkChannels,
  },
  {
    rule: 'I9',
    what: 'a voucher that the books have lost',
    tables: ['channel'],
    change: `update channel set posted_micro = posted_micro + 1`,
    look: checkChannels,
  },
  {
    rule: 'I1',
    what: 'a posting that is short of one micro',
    tables: ['ledger_entry'],
    change: `update ledger_entry set amount_micro = amount_micro + 1 where (transaction_id, line) = (select min(transaction_id), 0 from ledger_entry)`,
    look: checkBooks,
  },
  {
    rule: 'I2',
    what: 'a posting that is twice as large as it was',
    tables: ['ledger_entry'],
    change: `update ledger_entry set amount_micro = amount_micro * 2 where transaction_id = ${oneSale}`,
    look: checkBooks,
  },
  {
    rule: 'I3',
    what: 'a kept balance beside its entries',
    tables: ['ledger_balance'],
    change: `update ledger_balance set owed_micro = owed_micro + 1 where account_id = (select min(account_id) from ledger_balance)`,
    look: checkBooks,
  },
  {
    rule: 'I4',
    what: 'a debt below zero',
    tables: ['ledger_balance'],
    change: `update ledger_balance set owed_micro = -1 where account_id = (select min(account_id) from ledger_balance)`,
    look: checkBooks,
  },
  {
    rule: 'I5',
    what: 'a transfer that counts twice',
    tables: ['payment'],
    change: `update payment p set transaction = o.transaction, log_position = o.log_position, network = o.network
      from (select * from payment where state = 'served' and log_position is not null order by id limit 1) o
      where p.id = (select max(id) from payment where state = 'served' and log_position is not null)`,
    look: checkBooks,
  },
  {
    rule: 'I6',
    what: 'a sale at more than the transfer showed',
    tables: ['payment'],
    change: `update payment set amount_micro = amount_micro + 1 where id = (select min(id) from payment where state = 'served')`,
    look: checkAnswers,
  },
  {
    rule: 'I6',
    what: 'a sale that was not posted',
    tables: ['ledger_transaction'],
    change: `delete from ledger_transaction where id = (select min(id) from ledger_transaction where kind = 'sale')`,
    look: checkBooks,
  },
  {
    rule: 'I7',
    what: 'money that stays in clearing',
    tables: ['ledger_transaction', 'ledger_entry'],
    change: invented('clearing:%', 7),
    look: checkMoney,
  },
  {
    rule: 'I8',
    what: 'a payout that no transfer shows',
    tables: ['payout'],
    change: `insert into payout (id, network, payee, amount_micro, purpose, state, transaction)
      values ('po_invented', 'eip155:8453', '0x00000000000000000000000000000000000000b1', 5, 'refund', 'paid', '0x00')`,
    look: checkMoney,
  },
  {
    rule: 'I9',
    what: 'money in the books that is not on the chain',
    tables: ['ledger_transaction', 'ledger_entry'],
    change: invented('onchain:custody@eip155:8453', 7),
    look: checkMoney,
  },
  {
    rule: 'I13',
    what: 'credit that nothing paid for',
    tables: ['ledger_transaction', 'ledger_entry', 'ledger_account'],
    change: `insert into ledger_transaction select (jsonb_populate_record(null::ledger_transaction,
        to_jsonb(t) || '{"id": -2, "reference": "robbed", "kind": "credit", "payment_id": null, "transfer_id": null}')).* from ledger_transaction t
        order by id limit 1;
      insert into ledger_account select (jsonb_populate_record(null::ledger_account,
        to_jsonb(a) || '{"id": -2, "name": "credit:0x00000000000000000000000000000000000000b1@eip155:8453"}')).* from ledger_account a
        where not is_wallet order by id limit 1;
      insert into ledger_entry (transaction_id, line, account_id, amount_micro) values (-2, 0, -2, -1500)`,
    look: (scene) => checkTransfers(booksOf(scene)),
  },
  {
    rule: 'I14',
    what: 'a transfer with the amount of the quote',
    tables: ['transfer'],
    change: `update transfer set amount_micro = amount_micro + 1 where id = (select min(id) from transfer where posted_as = 'payment')`,
    look: (scene) => checkTransfers(booksOf(scene)),
  },
  {
    rule: 'I14',
    what: 'a transfer that was never posted',
    tables: ['transfer', 'ledger_transaction'],
    change: `update ledger_transaction set transfer_id = null, kind = 'opening' where transfer_id = (select min(id) from transfer where posted_as = 'payment');
      delete from transfer where id = (select min(id) from transfer where posted_as = 'payment')`,
    look: checkMoney,
  },
  {
    rule: 'I15',
    what: 'a payment that never ends',
    tables: ['payment'],
    change: `insert into payment (id, state, network, payer, amount_micro, valid_before)
      values ('pay_stuck', 'unknown', 'eip155:8453', '0x00000000000000000000000000000000000000b1', 5, 1)`,
    // A short run has no blocks that are old enough for the real limit.
    look: async ({ world }) => {
      for (const chain of world.chains) await checkTerminal(world.db.owner, chain, -1)
    },
  },
  {
    rule: 'I14',
    what: 'a payment that took more from its payer',
    tables: ['payment'],
    change: `update payment set state = 'failed' where id = (select min(id) from payment where state = 'served')`,
    look: checkMoney,
  },
  {
    rule: 'I9',
    what: 'a call from credit that was never drawn',
    tables: ['entitled_call'],
    change: `delete from entitled_call where id = (select min(id) from entitled_call where state = 'captured')`,
    look: checkMoney,
  },
  {
    rule: 'I9',
    what: 'a creator who gets a micro too much',
    tables: ['creator_accrual'],
    change: `update creator_accrual set micro = micro + 1 where id = (select min(id) from creator_accrual)`,
    look: checkBooks,
  },
  {
    rule: 'I10',
    what: 'an option without collateral',
    tables: ['option_series', 'option_position'],
    change: `insert into option_series (symbol, state, cap_micro) values ('BROKEN', 'trading', 9);
      insert into option_position (id, symbol, quantity, state) values ('opt_broken', 'BROKEN', 1, 'open')`,
    look: checkBooks,
  },
  {
    rule: 'I11',
    what: 'a sealed posting of another kind',
    tables: ['ledger_transaction'],
    change: `update ledger_transaction set kind = 'gift' where id = (select t from (select unnest(transaction_ids) as t from ledger_seal) s
      join ledger_transaction l on l.id = t where l.kind = 'reward' order by t limit 1)`,
    look: checkBooks,
  },
  {
    rule: 'I11',
    what: 'a stamp that is not in the log',
    tables: ['log_entry'],
    change: `delete from log_entry where subject = (select min(id) from attestation)`,
    look: checkBooks,
  },
  {
    rule: 'I11',
    what: 'a leaf that says something else',
    tables: ['log_entry'],
    change: `update log_entry set entry = entry || '\\x00' where leaf_index = 0`,
    look: checkLog,
  },
]

/** Their questions count on the key. */
const keyed = new Set(['ledger_transaction'])

class Undone extends Error {}

/** Which rule a check names when its tables were tampered with; nothing of it stays. */
export async function ruleFoundBroken(scene: Scene, { tables, change, look }: Break): Promise<string | undefined> {
  let found: string | undefined
  const { world, history } = scene
  const work = async (tx: Tx): Promise<void> => {
    for (const table of tables)
      await tx.query(
        `create temporary table ${table} (like public.${table}) on commit drop;
         do $$ declare c record; begin
           for c in select attname from pg_attribute where attrelid = 'pg_temp.${table}'::regclass and attnum > 0 and attnotnull
           loop execute format('alter table pg_temp.${table} alter %I drop not null', c.attname); end loop;
         end $$;
         ${keyed.has(table) ? `alter table ${table} add primary key (id);` : ''}
         insert into ${table} select * from public.${table}`,
      )
    // What was prepared before is about the real tables.
    await tx.query('discard plans')
    await tx.query(change)
    const seen = { ...scene, history: { ...history }, world: { ...world, db: { ...world.db, owner: asDatabase(tx) } } }
    try {
      await look(seen)
    } catch (error) {
      if (!(error instanceof Violation)) throw error
      found = error.rule
    }
    throw new Undone()
  }
  await world.db.owner.transaction(work).catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error
  })
  return found
}

const asDatabase = (tx: Tx) => tx as unknown as Scene['world']['db']['owner']
