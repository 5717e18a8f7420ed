-- What the postings of some payments left in each account. Looked up through keys one by one: the plan is kept, and a
-- join chosen while the books are small would read all of them when they are large.
create function ledger_of_payments(payments text[])
  returns table (payment_id text, account text, kind text, unit text, micro bigint) language plpgsql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  return query
    select l.id, a.name, a.kind, a.unit, l.micro
    from (
      select n.id, e.account_id, sum(e.amount_micro)::bigint as micro
      from unnest(payments) n (id)
      join ledger_transaction t on t.payment_id = n.id
      join ledger_entry e on e.transaction_id = t.id
      group by n.id, e.account_id
    ) l (id, account_id, micro)
    join ledger_account a on a.id = l.account_id
    where l.micro <> 0;
end $$;

-- Stored answers and attestations are written far more often than read, and the usual compression is most of the cost of
-- writing them. Where the server lacks the quick one, they stay as they are.
do $$ begin
  alter table attestation alter column record set compression lz4, alter column signed set compression lz4;
  alter table payment_answer alter column body set compression lz4, alter column payment_response set compression lz4,
    alter column reservation set compression lz4;
  alter table log_entry alter column entry set compression lz4;
exception when feature_not_supported then null;
end $$;

-- Few of all accounts are debts to us, and they are looked for in each round of payouts.
create index ledger_account_receivable on ledger_account (name) where name like 'receivable:%';

-- Whole in their own row: a second table with an index of its own would be written for each of them.
alter table attestation set (toast_tuple_target = 6000);
alter table payment_answer set (toast_tuple_target = 6000);
-- Hashes do not get smaller.
alter table log_tile alter column hashes set storage external;
