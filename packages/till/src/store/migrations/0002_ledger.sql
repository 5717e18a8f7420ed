-- Double entry in integer units. An entry is a debit when positive, a credit when negative.
create table ledger_account (
  id bigint generated always as identity primary key,
  name text not null unique check (length(name) between 3 and 300),
  kind text not null check (kind in ('asset', 'liability', 'income', 'expense', 'clearing')),
  -- What is counted: micro-USDC or gwei of gas, on one chain. Units are never added together.
  unit text not null check (unit ~ '^eip155:[1-9][0-9]*/(usdc|gas)$'),
  -- What we owe to somebody by name: may never fall below zero, so its balance is kept and checked with each entry.
  -- The others have no such row, for everyone's payments would queue up at it.
  guarded boolean not null,
  created_at timestamptz not null default now(),
  check (not guarded or kind = 'liability')
);

create table ledger_transaction (
  id bigint generated always as identity primary key,
  -- What happened, named so that it cannot be posted twice.
  reference text not null unique check (length(reference) between 1 and 300),
  kind text not null check (length(kind) between 1 and 64),
  payment_id text,
  -- For people: why it was reversed, what a manual posting was about.
  memo text not null default '' check (length(memo) <= 500),
  created_at timestamptz not null default clock_timestamp(),
  -- The database transaction: sealing needs an order that no later commit can get in between.
  xid xid8 not null default pg_current_xact_id()
);
create index ledger_transaction_payment on ledger_transaction (payment_id) where payment_id is not null;
create index ledger_transaction_order on ledger_transaction (xid, id);
create index ledger_transaction_time on ledger_transaction using brin (created_at);

-- No foreign keys: they would lock the busiest account rows for each entry. The trigger below checks the same, and
-- neither accounts nor transactions can be deleted.
create table ledger_entry (
  transaction_id bigint not null,
  line smallint not null check (line >= 0),
  account_id bigint not null,
  amount_micro bigint not null check (amount_micro <> 0),
  primary key (transaction_id, line)
);
create index ledger_entry_account on ledger_entry (account_id, transaction_id) include (amount_micro);

-- What is owed per guarded account, always the negated sum of its entries.
create table ledger_balance (
  account_id bigint primary key,
  owed_micro bigint not null,
  version bigint not null,
  constraint ledger_balance_not_negative check (owed_micro >= 0)
);

-- Sealed ranges of the books, each carrying the hash of the one before.
create table ledger_seal (
  seq bigint primary key check (seq > 0),
  -- All transactions with from_xid <= xid < until_xid, in the order of (xid, id).
  from_xid xid8 not null,
  until_xid xid8 not null check (until_xid >= from_xid),
  transaction_ids bigint[] not null,
  -- One hash of 32 bytes per transaction, so that a change can be traced to its row.
  leaves bytea not null check (length(leaves) = 32 * coalesce(array_length(transaction_ids, 1), 0)),
  previous_hash bytea not null check (length(previous_hash) = 32),
  hash bytea not null unique check (length(hash) = 32),
  sealed_at timestamptz not null
);

insert into app_access values
  ('ledger_account', 'select, insert'),
  ('ledger_transaction', 'select, insert'),
  ('ledger_entry', 'select, insert'),
  ('ledger_balance', 'select'),
  ('ledger_seal', 'select, insert');

create trigger ledger_account_append_only before update or delete or truncate on ledger_account
  for each statement execute function refuse_change();
create trigger ledger_transaction_append_only before update or delete or truncate on ledger_transaction
  for each statement execute function refuse_change();
create trigger ledger_entry_append_only before update or delete or truncate on ledger_entry
  for each statement execute function refuse_change();
create trigger ledger_seal_append_only before update or delete or truncate on ledger_seal
  for each statement execute function refuse_change();

-- Kept by the owner's right, for the application itself may not write balances.
create function ledger_open_balance() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into ledger_balance (account_id, owed_micro, version)
    select id, 0, 0 from opened where guarded order by id;
  return null;
end $$;
create trigger ledger_account_opened after insert on ledger_account
  referencing new table as opened for each statement execute function ledger_open_balance();

-- Each INSERT must balance by itself, per transaction and unit.
-- Rows are looked up one by one through their keys, here and below: plans are kept, and a join chosen while the tables
-- are small would read all of them when they are large.
create function ledger_check_entries() returns trigger language plpgsql security definer
  set search_path = public, pg_temp set enable_seqscan = off set enable_mergejoin = off set enable_hashjoin = off as $$
declare
  bad record;
  touched bigint[];
begin
  select transaction_id, unit, sum(amount_micro) as difference, bool_and(unit is not null) as accounts_exist,
         bool_and(coalesce(xid = pg_current_xact_id(), false)) as is_new
    into bad
    from (
      select e.transaction_id, e.amount_micro,
        (select a.unit from ledger_account a where a.id = e.account_id) as unit,
        (select t.xid from ledger_transaction t where t.id = e.transaction_id) as xid
      from added e
    ) looked_up
    group by transaction_id, unit
    having sum(amount_micro) <> 0 or unit is null or not bool_and(coalesce(xid = pg_current_xact_id(), false))
    limit 1;
  if found then
    if not bad.accounts_exist then
      raise exception 'ledger transaction % names an account that does not exist', bad.transaction_id
        using errcode = 'foreign_key_violation', constraint = 'ledger_entry_account_exists';
    elsif not bad.is_new then
      raise exception 'ledger transaction % is closed: what is posted is only ever reversed', bad.transaction_id
        using errcode = 'check_violation', constraint = 'ledger_entry_transaction_open';
    end if;
    raise exception 'ledger transaction % does not balance: % is off by %', bad.transaction_id, bad.unit, bad.difference
      using errcode = 'check_violation', constraint = 'ledger_entry_balanced';
  end if;

  select array_agg(distinct account_id) filter (where account_id is not null) into touched
    from (select (select b.account_id from ledger_balance b where b.account_id = e.account_id) from added e) kept (account_id);
  if touched is not null then
    -- One order for all, so that postings that share accounts wait for each other and never in a circle.
    perform from ledger_balance b where b.account_id = any (touched) order by b.account_id for no key update;
    update ledger_balance b
      set owed_micro = b.owed_micro - moved.amount, version = b.version + 1
      from (select account_id, sum(amount_micro)::bigint as amount from added group by account_id) moved
      where b.account_id = moved.account_id;
  end if;
  return null;
end $$;
create trigger ledger_entry_added after insert on ledger_entry
  referencing new table as added for each statement execute function ledger_check_entries();

create function ledger_refuse_empty() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  if not exists (select from ledger_entry where transaction_id = new.id) then
    raise exception 'ledger transaction % has no entries', new.id
      using errcode = 'check_violation', constraint = 'ledger_transaction_has_entries';
  end if;
  return null;
end $$;
create constraint trigger ledger_transaction_not_empty after insert on ledger_transaction
  deferrable initially deferred for each row execute function ledger_refuse_empty();

-- Posts many transactions at once. Lines name their transaction by its place in the lists, starting at 1. A reference
-- that was posted before with the same lines counts as done; with other lines nothing at all is posted.
-- Work goes account names, then references, then balances, each in sorted order, so that two batches cannot deadlock.
create function ledger_post(
  account_names text[], account_kinds text[], account_units text[], account_guards boolean[],
  transaction_references text[], transaction_kinds text[], transaction_payments text[], transaction_memos text[],
  line_transactions integer[], line_accounts integer[], line_amounts bigint[]
) returns table (place integer, transaction_id bigint, is_new boolean) language plpgsql
  set enable_seqscan = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  account_ids bigint[];
  posted_ids bigint[];
  conflicting text[];
begin
  select array_agg((select a.id from ledger_account a where a.name = n.name) order by n.place) into account_ids
    from unnest(account_names) with ordinality n (name, place);
  if array_position(account_ids, null) is not null then
    insert into ledger_account (name, kind, unit, guarded)
      select n.name, n.kind, n.unit, n.guarded
      from unnest(account_names, account_kinds, account_units, account_guards)
        with ordinality n (name, kind, unit, guarded, place)
      where account_ids[n.place] is null
      order by n.name
      on conflict (name) do nothing;
    select array_agg((select a.id from ledger_account a where a.name = n.name) order by n.place) into account_ids
      from unnest(account_names) with ordinality n (name, place);
    -- Made meanwhile by another transaction that this one's snapshot cannot see.
    if array_position(account_ids, null) is not null then
      raise exception 'a ledger account was made meanwhile' using errcode = 'serialization_failure';
    end if;
  end if;

  with inserted as (
    insert into ledger_transaction (reference, kind, payment_id, memo)
      select n.reference, n.kind, n.payment, n.memo
      from unnest(transaction_references, transaction_kinds, transaction_payments, transaction_memos)
        n (reference, kind, payment, memo)
      order by n.reference
      on conflict (reference) do nothing
      returning id, reference
  )
  select array_agg(i.id order by n.place) into posted_ids
    from unnest(transaction_references) with ordinality n (reference, place)
    left join (
      select i.id, i.reference, min(f.place) as first_place
      from inserted i join unnest(transaction_references) with ordinality f (reference, place) on f.reference = i.reference
      group by i.id, i.reference
    ) i on i.reference = n.reference and i.first_place = n.place;

  insert into ledger_entry (transaction_id, line, account_id, amount_micro)
    select posted_ids[l.owner], row_number() over (partition by l.owner order by l.place) - 1, account_ids[l.account], l.amount
    from unnest(line_transactions, line_accounts, line_amounts) with ordinality l (owner, account, amount, place)
    where posted_ids[l.owner] is not null;

  if array_position(posted_ids, null) is not null then
    select array_agg(n.reference) into conflicting
      from unnest(transaction_references, transaction_kinds, transaction_payments)
        with ordinality n (reference, kind, payment, place)
      join ledger_transaction t on t.reference = n.reference
      where posted_ids[n.place] is null
        and (t.kind is distinct from n.kind or t.payment_id is distinct from n.payment
          or (select array_agg(array[e.account_id, e.amount_micro] order by e.account_id, e.amount_micro)
                from ledger_entry e where e.transaction_id = t.id)
            is distinct from
             (select array_agg(array[account_ids[l.account], l.amount] order by account_ids[l.account], l.amount)
                from unnest(line_transactions, line_accounts, line_amounts) l (owner, account, amount)
                where l.owner = n.place));
    if conflicting is not null then
      raise exception 'posted before with other lines: %', array_to_string(conflicting, ', ')
        using errcode = 'LG001';
    end if;
  end if;

  return query
    select n.place::integer,
      coalesce(posted_ids[n.place], (select t.id from ledger_transaction t where t.reference = n.reference)),
      posted_ids[n.place] is not null
    from unnest(transaction_references) with ordinality n (reference, place)
    order by n.place;
end $$;
