-- What the application role may do with a table; tables not named here: select, insert, update, delete.
-- The store grants it at each start, so migrations contain no GRANT.
create table app_access (
  table_name text primary key,
  privileges text not null
);
insert into app_access values ('app_access', 'select');

-- Tables that an operator with the role `operate` may change from the command line, with the rights of the node: none of
-- them moves money or holds a key.
create table operator_access (table_name text primary key);
insert into app_access values ('operator_access', 'select');
insert into operator_access values ('pause'), ('audit_log'), ('payment_dispute');

-- What is known of people beside the address of a wallet, and the statement that erases it for the wallet $1, or why it stays.
create table personal_data (
  place text primary key,
  what text not null,
  erase text check (erase ~ '^(update|delete from) '),
  kept_because text,
  check ((erase is null) = (kept_because is not null))
);
insert into app_access values ('personal_data', 'select');
insert into personal_data (place, what, erase) values
  ('payment.resource', 'queries of addresses that were asked for', $$update payment set resource = split_part(resource, '?', 1)
    where payer = $1 and ended_at is not null and final and resource like '%?%'$$),
  ('payment_answer.body', 'what was bought', $$delete from payment_answer where payer = $1 and payment_id in (
    select id from payment where payer = $1 and ended_at is not null and final)$$),
  ('call_answer.body', 'what was bought from credit, with passes and by vouchers', $$delete from call_answer where account = $1$$),
  ('entitled_call.idempotency_key', 'names that a caller gave its calls', $$update entitled_call set idempotency_key = null
    where account = $1 and state = 'captured' and idempotency_key is not null$$),
  ('payment_dispute.text', 'what a buyer wrote', $$update payment_dispute set text = 'erased', evidence = null, evidence_type = null
    where payer = $1 and state <> 'open' and text <> 'erased'$$);
insert into personal_data (place, what, kept_because) values
  ('audit_log.actor', 'name of an operator''s login', 'who did what is never changed'),
  ('payment.payer', 'the wallet in payments, claims, transfers and postings', 'the books, and no authorization is used twice');

insert into app_access values ('schema_migration', 'select');

-- For tables that only grow: refuses for everyone, the owner included.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% on % is refused: its rows are never changed', lower(tg_op), tg_table_name
    using errcode = 'insufficient_privilege';
end $$;

-- Which node this database belongs to.
create table instance (
  only_one boolean primary key default true check (only_one),
  mode text not null,
  chains jsonb not null,
  assets jsonb not null,
  payees jsonb not null,
  key_id text not null,
  created_at timestamptz not null default now(),
  -- The server that this database was last seen on. A restore or a promoted standby changes one of the two.
  system_identifier text,
  timeline bigint,
  -- Counts looks at the server. A process remembers the last one it made: a database that was recovered to an earlier time is behind it.
  position bigint not null default 0
);
insert into app_access values ('instance', 'select, insert, update');

-- Addresses can change by a deliberate, audited act; nothing else about an instance does, but for its key.
create function refuse_instance_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and (new.mode, new.chains, new.assets, new.created_at)
      is not distinct from (old.mode, old.chains, old.assets, old.created_at)
    and (new.payees = old.payees or current_setting('assay.change_payees', true) = 'on') then
    return new;
  end if;
  raise exception 'the instance row is fixed' using errcode = 'insufficient_privilege';
end $$;
create trigger instance_is_fixed before update or delete on instance
  for each row execute function refuse_instance_change();

-- Who did what. Each row carries the hash of the one before it.
create table audit_log (
  id bigint primary key,
  happened_at timestamptz not null,
  actor text not null check (length(actor) between 1 and 200),
  action text not null check (length(action) between 1 and 100),
  subject text not null check (length(subject) <= 400),
  details jsonb not null,
  previous_hash bytea not null check (length(previous_hash) = 32),
  hash bytea not null check (length(hash) = 32)
);
insert into app_access values ('audit_log', 'select, insert');
create trigger audit_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

create function audit_hash(entry audit_log) returns bytea language sql immutable as $$
  select sha256(entry.previous_hash || convert_to(jsonb_build_array(
    entry.id, (extract(epoch from entry.happened_at) * 1000000)::bigint,
    entry.actor, entry.action, entry.subject, entry.details)::text, 'UTF8'))
$$;

-- Rows get their place in the chain here, one writer at a time, whatever the caller wrote into those columns.
create function chain_audit_row() returns trigger language plpgsql as $$
declare
  last record;
begin
  perform pg_advisory_xact_lock(1634952033, 4);
  select id, hash into last from audit_log order by id desc limit 1;
  new.id := coalesce(last.id, 0) + 1;
  new.happened_at := clock_timestamp();
  new.previous_hash := coalesce(last.hash, decode(repeat('00', 32), 'hex'));
  new.hash := audit_hash(new);
  return new;
end $$;
create trigger audit_chain before insert on audit_log for each row execute function chain_audit_row();

-- Tables that are cut by time. Their keys begin with it: public ids do, and so do numbers made by `time_number`. So a row is
-- found by its key in one partition, and unique keys need no other column. What no partition is made for goes into
-- `<table>_rest`: a missing partition stops nothing.
create table partitioned_table (
  table_name text primary key,
  -- What its keys are: numbers of time_number, times, or else ids with this prefix.
  key text not null,
  days integer not null check (days > 0),
  -- How long partitions are kept after their end, unless something else is set, and at least. Null: for ever.
  keep_days integer,
  least_days integer check (least_days between 1 and coalesce(keep_days, least_days)),
  -- Finds something that still needs the rows with keys from $1 up to $2; such a partition is not dropped either.
  needed_by text,
  storage text not null default 'fillfactor = 100',
  append_only boolean not null default false
);
insert into app_access values ('partitioned_table', 'select');

-- A number that begins with the second it was made in. The rest keeps numbers of one second apart.
create function time_number(place bigint) returns bigint language sql volatile as $$
  select (floor(extract(epoch from clock_timestamp()))::bigint << 31) | (place & 2147483647)
$$;

-- The lowest id with this prefix that was made at a moment or later; see kernel/ids.ts.
create function first_id_at(id_prefix text, at timestamptz) returns text language sql immutable as $$
  select id_prefix || '_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
    ((floor(extract(epoch from at) * 125)::bigint >> (5 * n)) & 31)::integer + 1, 1), '' order by n desc)
  from generate_series(0, 8) n
$$;

create function partition_from(cut partitioned_table, starts date) returns text language sql immutable as $$
  select case cut.key when 'number' then (extract(epoch from starts)::bigint << 31)::text
    when 'time' then starts || ' 00:00:00+00'
    else first_id_at(cut.key, starts::timestamp at time zone 'utc') end
$$;

-- Makes the partitions of this period, the one before and the next ones, and says which could not be made: a busy table is tried again later,
-- and a period whose rows are in `<table>_rest` stays there. Runs with the owner's right, for the application makes no tables.
create function make_partitions(now_at timestamptz, periods integer default 2) returns text[] language plpgsql
  security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  cut partitioned_table;
  starts date;
  part text;
  failed text[] := '{}';
begin
  perform pg_advisory_xact_lock(1634952033, 13);
  for cut in select * from partitioned_table order by table_name loop
    for period in -1 .. periods - 1 loop
      starts := '1970-01-01'::date + (floor(extract(epoch from now_at) / 86400 / cut.days)::integer + period) * cut.days;
      part := cut.table_name || '_' || to_char(starts, 'YYYYMMDD');
      continue when to_regclass(part) is not null;
      begin
        execute format('create table %I (like %I including all) with (%s)', part, cut.table_name, cut.storage);
        if cut.append_only then
          execute format('create trigger append_only before update or delete or truncate on %I
            for each statement execute function refuse_change()', part);
        end if;
        if exists (select from pg_roles where rolname = 'assay_app') then
          execute format('revoke all on %I from assay_app', part);
        end if;
        execute format('alter table %I attach partition %I for values from (%L) to (%L)', cut.table_name, part,
          partition_from(cut, starts), partition_from(cut, starts + cut.days));
      exception when check_violation or lock_not_available then
        failed := failed || part;
      end;
    end loop;
  end loop;
  return failed;
end $$;

-- Drops partitions that ended this many days ago, and says which.
create function drop_partitions(cut_table text, keep_days integer, now_at timestamptz) returns text[] language plpgsql
  security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  cut partitioned_table;
  part record;
  needed boolean;
  dropped text[] := '{}';
begin
  perform pg_advisory_xact_lock(1634952033, 13);
  select * into cut from partitioned_table where table_name = cut_table and least_days is not null;
  if not found then
    raise exception 'nothing of % is ever dropped', cut_table using errcode = 'insufficient_privilege';
  end if;
  for part in
    select c.relname as name, to_date(right(c.relname, 8), 'YYYYMMDD') as starts
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = cut_table::regclass and c.relname ~ '_[0-9]{8}$' order by c.relname
  loop
    continue when part.starts + cut.days + greatest(keep_days, cut.least_days) > (now_at at time zone 'utc')::date;
    execute 'select exists (' || coalesce(cut.needed_by, 'select where false') || ')' into needed
      using partition_from(cut, part.starts), partition_from(cut, part.starts + cut.days);
    continue when needed;
    begin
      execute format('drop table %I', part.name);
      dropped := dropped || part.name::text;
    exception when lock_not_available then null;
    end;
  end loop;
  return dropped;
end $$;

-- Things that may be used once: challenge nonces, request nonces.
create table nonce_claim (
  scope text not null check (length(scope) between 1 and 64),
  key text not null check (length(key) between 1 and 512),
  expires_at timestamptz not null,
  primary key (scope, key)
);
create index nonce_claim_expiry on nonce_claim (expires_at);
insert into app_access values ('nonce_claim', 'select, insert, delete');

-- Which process does a job at the moment. The token grows with each holder and fences off the ones before.
create table job_lease (
  name text primary key,
  -- The process; null where only the time says how long it holds.
  owner bigint,
  token bigint not null,
  expires_at timestamptz not null,
  -- When the last run ended.
  finished_at timestamptz
);
insert into app_access values ('job_lease', 'select, insert, update');

-- Double entry in integer units. An entry is a debit when positive, a credit when negative.
create table ledger_account (
  id bigint generated always as identity primary key,
  name text not null unique check (length(name) between 3 and 300),
  kind text not null check (kind in ('asset', 'liability', 'income', 'expense', 'clearing')),
  -- What is counted: micro-USDC or gwei of gas, on one chain; another asset by its CAIP-19 name. Units are never added together.
  unit text not null check (unit ~ '^eip155:[1-9][0-9]*/(usdc|gas|[-a-z0-9]{3,8}:[-.%a-zA-Z0-9]{1,128})$' or unit = 'points'),
  -- What we owe to somebody by name: may never fall below zero, so its balance is kept and checked with each entry.
  -- The others have no such row, for everyone's payments would queue up at it.
  guarded boolean not null,
  created_at timestamptz not null default now(),
  -- The parts of a name, `<role>[:<purpose>][:<owner>][@<network>]`, by which accounts are found. `network` is a chain for its USDC
  -- (`eip155:8453`), or another dollar there (`eip155:8453/erc20:0x…`): whatever is counted in this database is kept under one
  -- of these, so that no two assets are mixed. One purpose may keep a balance in several accounts, numbered `.0`, `.1` and so on.
  network text generated always as (nullif(split_part(name, '@', 2), '')) stored,
  role text not null generated always as (split_part(split_part(name, '@', 1), ':', 1)) stored,
  purpose text generated always as (case when split_part(split_part(name, '@', 1), ':', 2) ~ '^(0x[0-9a-f]{40})?$' then null
    else regexp_replace(split_part(split_part(name, '@', 1), ':', 2), '\.[0-9]+$', '') end) stored,
  -- The wallet it belongs to.
  owner text generated always as (substring(split_part(name, '@', 1) from ':(0x[0-9a-f]{40})$')) stored,
  is_wallet boolean not null generated always as (split_part(name, ':', 1) = 'onchain'
    and split_part(split_part(name, '@', 1), ':', 2) in ('pay_to', 'custody')) stored,
  check (not guarded or kind = 'liability')
);
-- Shares and debts are looked for by purpose in each round of payouts.
create index ledger_account_purpose on ledger_account (network, role, purpose) where role in ('payable', 'receivable');
insert into app_access values ('ledger_account', 'select');
create trigger ledger_account_append_only before update or delete or truncate on ledger_account
  for each statement execute function refuse_change();

-- What accounts `payable:<purpose>` are about. One that is not listed is owed out of custody and paid by its shop itself.
create table ledger_purpose (
  purpose text primary key check (purpose ~ '^[a-z][a-z0-9_]{0,30}$'),
  -- Whose money pays it: what custody holds for others, what the operator has put there, or a contract.
  backed_by text not null default 'custody' check (backed_by in ('custody', 'operator', 'contract')),
  -- A cost of ours beside the price: when a sale is reversed, its buyer gets nothing from it.
  is_cost boolean not null default false,
  -- Paid out by itself once it reaches the minimum.
  paid_out boolean not null default false,
  -- The minimum that shares were last checked with. Only a lower one makes shares due that were not.
  checked_minimum_micro bigint,
  -- Under which purpose a payee's debt is posted that got too much; its own where null.
  debt_purpose text
);
insert into app_access values ('ledger_purpose', 'select, update (checked_minimum_micro)');
insert into ledger_purpose (purpose, backed_by, paid_out, debt_purpose) values
  ('refund', 'operator', true, null), ('credit_refund', 'custody', true, 'credit'),
  ('credit_refund_pay_to', 'operator', true, 'credit');

create sequence ledger_number;
create table ledger_transaction (
  id bigint primary key default time_number(nextval('ledger_number')),
  -- What happened, named so that it cannot be posted twice.
  reference text not null unique check (length(reference) between 1 and 300),
  kind text not null check (length(kind) between 1 and 64),
  payment_id text collate "C",
  -- For people: why it was reversed, what a manual posting was about.
  memo text not null default '' check (length(memo) <= 500),
  created_at timestamptz not null default clock_timestamp(),
  -- The database transaction: entries come with it or never.
  xid xid8 not null default pg_current_xact_id(),
  transfer_id bigint,
  transfer_turn smallint,
  constraint ledger_transaction_transfer_turn check ((transfer_id is null) = (transfer_turn is null))
);
create index ledger_transaction_payment on ledger_transaction (payment_id) where payment_id is not null;
create index ledger_transaction_time on ledger_transaction using brin (created_at);
-- A transfer is posted once, whatever explains it.
create unique index ledger_transaction_transfer on ledger_transaction (transfer_id, transfer_turn)
  where transfer_id is not null;
insert into app_access values ('ledger_transaction', 'select');
create trigger ledger_transaction_append_only before update or delete or truncate on ledger_transaction
  for each statement execute function refuse_change();

-- Posted and not sealed yet. Numbers are given out before commit, so they are no order: what is committed is in here until a
-- seal gives it its place, however late that is and on whatever server.
create table ledger_unsealed (
  transaction_id bigint primary key
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
insert into app_access values ('ledger_unsealed', 'select, delete');
create function ledger_note_unsealed() returns trigger language plpgsql as $$
begin
  insert into ledger_unsealed select id from added;
  return null;
end $$;
create trigger ledger_transaction_unsealed after insert on ledger_transaction
  referencing new table as added for each statement execute function ledger_note_unsealed();

-- No foreign keys: they would lock the busiest account rows for each entry. The trigger below checks the same, and
-- neither accounts nor transactions can be deleted.
create table ledger_entry (
  transaction_id bigint not null,
  line smallint not null check (line >= 0),
  account_id bigint not null,
  amount_micro bigint not null check (amount_micro <> 0),
  primary key (transaction_id, line)
) partition by range (transaction_id);
create index ledger_entry_account on ledger_entry (account_id, transaction_id);
create table ledger_entry_rest partition of ledger_entry default;
insert into partitioned_table (table_name, key, days, append_only) values ('ledger_entry', 'number', 91, true);
insert into app_access values ('ledger_entry', 'select');
create trigger ledger_entry_append_only before update or delete or truncate on ledger_entry
  for each statement execute function refuse_change();
create trigger append_only before update or delete or truncate on ledger_entry_rest
  for each statement execute function refuse_change();

-- What is owed per guarded account, always the negated sum of its entries.
create table ledger_balance (
  account_id bigint primary key,
  owed_micro bigint not null,
  version bigint not null,
  -- A hold sets money aside, it moves none: so it is kept beside the balance, under the same guard, and the books say
  -- only what was taken. Nothing else can be posted against what is held.
  held_micro bigint not null default 0,
  -- The part of a credit balance whose money arrived at PAY_TO. It is paid out like the operator's own debts, and never with
  -- what custody holds for others. Whatever is drawn comes from the other part first: the database keeps this one from
  -- exceeding the balance.
  pay_to_micro bigint not null default 0,
  is_payable boolean not null default false,
  constraint ledger_balance_not_negative check (owed_micro >= 0),
  constraint ledger_balance_held check (held_micro between 0 and greatest(owed_micro, 0)),
  constraint ledger_balance_pay_to check (pay_to_micro between 0 and greatest(owed_micro, 0))
);
insert into app_access values ('ledger_balance', 'select');

-- Shares that grew since they were last checked: whether they are due is asked of these, not of all there ever were.
create table payout_due (
  account_id bigint primary key
);
insert into app_access values ('payout_due', 'select, insert, delete');

-- The books in the order in which they were sealed, each seal carrying the hash of the one before.
create table ledger_seal (
  seq bigint primary key check (seq > 0),
  -- How many transactions were sealed before.
  position bigint not null unique check (position >= 0),
  transaction_ids bigint[] not null check (cardinality(transaction_ids) > 0),
  -- One hash of 32 bytes per transaction, so that a change can be traced to its row.
  leaves bytea not null check (length(leaves) = 32 * coalesce(array_length(transaction_ids, 1), 0)),
  previous_hash bytea not null check (length(previous_hash) = 32),
  hash bytea not null unique check (length(hash) = 32),
  sealed_at timestamptz not null
);
insert into app_access values ('ledger_seal', 'select, insert');
create trigger ledger_seal_append_only before update or delete or truncate on ledger_seal
  for each statement execute function refuse_change();

-- Kept by the owner's right, for the application itself may not write balances.
create function ledger_open_balance() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into ledger_balance (account_id, owed_micro, version, is_payable)
    select id, 0, 0, role = 'payable' from opened where guarded order by id;
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
    with moved as (
      update ledger_balance b
        set owed_micro = b.owed_micro - moved.amount, version = b.version + 1,
          pay_to_micro = least(b.pay_to_micro, greatest(b.owed_micro - moved.amount, 0))
        from (select account_id, sum(amount_micro)::bigint as amount from added group by account_id) moved
        where b.account_id = moved.account_id
        returning b.account_id, b.is_payable and moved.amount < 0 as grew
    )
    insert into payout_due (account_id)
      select m.account_id from moved m
      where m.grew and (select p.paid_out from ledger_purpose p
        where p.purpose = (select a.purpose from ledger_account a where a.id = m.account_id))
      on conflict do nothing;
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
  deferrable initially deferred for each row when (current_setting('assay.posting', true) is distinct from 'on')
  execute function ledger_refuse_empty();

-- CAIP-19: what an amount is counted in, on which chain. Parsed where it is made; the whole pattern would double the cost of
-- a claim here.
create domain asset_id as text check (value like '_%:_%/_%:_%' and length(value) <= 180);
-- Checked where it is written; a check of the table would be made again each time a payment changes.
create domain scheme_name as text check (value ~ '^[a-z][a-z0-9-]{0,39}$');

-- What a payer may use once, for ever: written before any work is done, and never cut by time. Payers come first in the keys
-- of all that is decided per payer, so that it could be spread over servers by payer.
create table claim (
  payer text not null,
  network text not null,
  -- What the scheme lets a payer use once, whatever the asset: for `exact` the nonce of the authorization.
  payment_key bytea not null constraint payment_key_length check (octet_length(payment_key) between 16 and 128),
  payment_id text collate "C" not null,
  -- One identifier names one purchase of a payer; a failed or released attempt gives it up.
  identifier_hash bytea,
  primary key (payer, network, payment_key)
);
-- Where a payment key counts: an EIP-3009 nonce for its token, one of Permit2 (its address and the nonce) for the whole chain.
create function claim_network(network text, payment_key bytea) returns text language sql immutable as $$
  select case when substring(payment_key from 1 for 20) = '\x000000000022d473030f116ddee9f6b43ac78ba3'
    then split_part(network, '/', 1) else network end
$$;
create unique index claim_identifier on claim (payer, identifier_hash) where identifier_hash is not null;
insert into app_access values ('claim', 'select, insert, update');

-- A payment offered for one request, whose claim was taken in the same statement.
create table payment (
  id text collate "C" not null,
  -- Columns of one length come one after the other: between others a row has gaps, and one payment less fits into a page.
  -- who works on it
  owner bigint not null,
  -- Which attempt of its owner holds a payment that is being settled.
  attempt bigint not null default 0,
  lease_until timestamptz not null,
  -- how much and when
  quoted_micro bigint not null,
  -- What is charged, final once the answer is prepared. Zero where the scheme can charge nothing.
  amount_micro bigint not null check (amount_micro >= 0),
  valid_before bigint not null,
  claimed_at timestamptz not null,
  intent_at timestamptz,
  settled_at timestamptz,
  ended_at timestamptz,
  delivered_at timestamptz,
  head_block bigint not null,
  block_number bigint,
  log_position integer,
  -- how often its block was reorganised away
  reorgs integer not null default 0,
  revocable boolean not null,
  -- What is sold is credit of the payer: its amount goes back as credit, and counts as used as that is drawn.
  adds_credit boolean not null default false,
  -- Something besides the answer was given, such as a subscription or a stamp.
  had_effect boolean not null default false,
  client_gone boolean not null default false,
  provisional boolean not null default false,
  -- nothing about it can change any more: final on chain, or past its time and never used
  final boolean not null default false,
  state text not null check (state in
    ('claimed','settling','unknown','settled','served','failed','released','credited','refunded')),
  -- what was paid with
  network text not null,
  asset asset_id not null check (asset = network or split_part(asset, '/', 1) = network),
  payer text not null,
  scheme scheme_name not null,
  payment_key bytea not null,
  -- Of everything the payer signed: a key can be signed with other amounts, payees and windows, and only what was
  -- claimed can be claimed again.
  signed_digest bytea check (octet_length(signed_digest) = 32),
  pay_to text not null,
  payee text not null check (payee in ('pay_to','custody')),
  -- what was bought
  route_id text not null,
  resource text not null,
  fingerprint bytea not null,
  identifier_hash bytea,
  ref text,
  aff text,
  -- how it went
  transaction bytea,
  block_hash bytea,
  reason text,
  -- Indexes name these two instead of what they are made of: a change that leaves them alone, as the intent to settle and the
  -- delivery do, writes the row and no index. The states before any money is seen are one phase.
  phase text not null generated always as (case when state in ('claimed','settling','unknown') then 'open' else state end) stored,
  -- It can still change, or its answer may be lost.
  open_to_payer boolean not null generated always as (not final
    or (delivered_at is null and state in ('settling','unknown','settled','served'))) stored,
  primary key (id, payer),
  constraint payment_charge_within_quote check (amount_micro <= quoted_micro)
) partition by range (id);
create index payment_unfinished on payment (phase, id) where phase in ('open','settled');
create index payment_watched on payment (network, valid_before) where phase in ('failed','released') and not final;
create index payment_not_final on payment (network, block_number) where not final and phase in ('settled','served','credited');
create index payment_of_payer on payment (payer, fingerprint) where open_to_payer;
-- In the order of their end, for the aggregation of ratings.
create index payment_ended on payment (ended_at) where ended_at is not null;
-- Payments that bought nothing, for the shop that sold them; there are few among all payments.
create index payment_credited on payment (route_id) where phase = 'credited';
create index payment_credited_to on payment (payer) where phase = 'credited';
-- What a wallet did since the last aggregation of ratings is found by the wallet: without these, a question about one reads
-- everything that all wallets did in the last minute.
create index payment_ended_by_payer on payment (payer, ended_at) where ended_at is not null;
-- Answers that were paid for and did not reach their buyer, by age.
create index payment_not_delivered on payment (settled_at) where open_to_payer and final;
-- Room in each page for the rows as they change; with more of it hardly more changes stay in their page.
create table payment_rest partition of payment default with (fillfactor = 85);
insert into partitioned_table (table_name, key, days, least_days, needed_by, storage) values ('payment', 'pay', 91, 400,
  $$select from payment where id >= $1 and id < $2 and (not final or phase in ('open','settled'))$$, 'fillfactor = 85');

-- The prepared answer, stored before money is taken and given again to anyone who proves to be the payer.
create table payment_answer (
  payment_id text collate "C" not null,
  payer text not null,
  status integer not null,
  content_type text not null,
  headers jsonb not null default '{}',
  body bytea not null,
  reservation jsonb,
  payment_response text,
  primary key (payment_id, payer)
) partition by range (payment_id);
-- What a call got that was paid for from credit, with a pass or by a voucher: given again for the same name, or request.
create table call_answer (
  call_id text collate "C" not null,
  account text not null,
  status integer not null,
  content_type text not null,
  headers jsonb not null default '{}',
  body bytea not null,
  -- Of vouchers.
  payment_response text,
  primary key (call_id, account)
) partition by range (call_id);
insert into app_access values ('call_answer', 'select, insert, delete');
-- Written far more often than read, and the usual compression is most of the cost of writing. Where the server lacks the
-- quick one, they stay as they are.
do $$ begin
  alter table payment_answer alter column body set compression lz4, alter column payment_response set compression lz4,
    alter column reservation set compression lz4;
  alter table call_answer alter column body set compression lz4, alter column payment_response set compression lz4;
exception when feature_not_supported then null;
end $$;
create table payment_answer_rest partition of payment_answer default with (toast_tuple_target = 6000);
insert into partitioned_table (table_name, key, days, keep_days, least_days, needed_by, storage) values ('payment_answer', 'pay', 7, 35, 2,
  $$select from payment where id >= $1 and id < $2 and phase in ('open','settled')$$,
  'toast_tuple_target = 6000');
create table call_answer_rest partition of call_answer default with (toast_tuple_target = 6000);
insert into partitioned_table (table_name, key, days, keep_days, least_days, storage) values ('call_answer', 'call', 7, 35, 2,
  'toast_tuple_target = 6000');

-- What a payer has in flight, so that claims never exceed the balance read, whichever process takes them.
create table payer_in_flight (
  network text not null,
  payer text not null,
  in_flight integer not null check (in_flight >= 0),
  in_flight_micro bigint not null check (in_flight_micro >= 0),
  primary key (payer, network)
  -- Counted up and down with each payment: with room in its page a row changes in place and its key is written once.
) with (fillfactor = 60);

-- A process that works on payments. It is alive while its advisory lock is held.
create table payment_owner (
  owner bigint primary key,
  started_at timestamptz not null,
  dead_at timestamptz,
  -- Of a process without a session to hold a lock in: its requests show that it is alive.
  alive_until timestamptz
);

-- Read every few seconds. An index keeps entries of what has ended until the next vacuum, and only a plain scan marks them, so
-- that the next one skips them; a bitmap scan would read all of them again each time.
create function unfinished_payments() returns table (state text, owner bigint, lease_until timestamptz, amount_micro bigint,
  revocable boolean) language sql stable set enable_bitmapscan = off set enable_seqscan = off as $$
  select state, owner, lease_until, amount_micro, revocable from payment where phase in ('open','settled')
$$;
create function served_not_final_micro() returns numeric language sql stable
  set enable_bitmapscan = off set enable_seqscan = off as $$
  select coalesce(sum(amount_micro), 0) from payment
  where not revocable and not final and phase = 'served'
$$;

-- What failed settlements cost, per day: the limits of loss are read from here.
create table settlement_loss (
  day date not null,
  scope text not null check (scope in ('payer','route')),
  key text not null,
  failures integer not null default 0,
  gas_gwei bigint not null default 0,
  primary key (day, scope, key)
);

-- How far each address has been compared with the chain.
create table reconcile_cursor (
  network text not null,
  address text not null,
  block_number bigint not null,
  onchain_micro bigint not null,
  checked_at timestamptz not null,
  primary key (network, address)
);

-- Who sends with a wallet at the moment. The token grows with each holder and fences off the ones before.
create table settlement_wallet (
  network text not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  -- Key of the advisory lock its process holds for life: without the lock the wallet is free, however long the lease runs.
  holder bigint not null,
  token bigint not null check (token > 0),
  expires_at timestamptz not null,
  -- Another process waits for this wallet until then.
  wanted_until timestamptz,
  primary key (network, wallet)
);
insert into app_access values ('settlement_wallet', 'select, insert, update');

-- Every transaction we sign, written before it is broadcast. One row per nonce: a replacement by fee, or the empty
-- transfer that fills a nonce nobody needs any more, takes the place of what it replaces and keeps its hash.
create table settlement_transaction (
  network text not null,
  wallet text not null,
  nonce bigint not null check (nonce >= 0),
  token bigint not null,
  purpose text not null check (length(purpose) between 1 and 32),
  -- The payments (or payouts) it carries.
  reference_ids text[] not null,
  -- signed: perhaps never sent. broadcast: a node has taken it. superseded: its nonce was used by something else.
  -- abandoned: refused by all nodes, the nonce is still free.
  state text not null check (state in ('signed','broadcast','mined','superseded','abandoned')),
  hash text not null check (hash ~ '^0x[0-9a-f]{64}$'),
  earlier_hashes text[] not null default '{}',
  raw bytea not null,
  max_fee_wei numeric(38,0) not null,
  priority_fee_wei numeric(38,0) not null,
  -- Unix seconds after which it could only fail.
  useful_until bigint,
  signed_at timestamptz not null,
  broadcast_at timestamptz,
  ended_at timestamptz,
  -- As mined.
  mined_hash text,
  block_number bigint,
  succeeded boolean,
  gas_used bigint,
  cost_wei numeric(38,0),
  -- What settled a payment is posted with it; everything else once its block is final.
  gas_posted boolean not null default false,
  primary key (network, wallet, nonce),
  check ((state = 'mined') = (mined_hash is not null))
);
create index settlement_transaction_gas on settlement_transaction (network, block_number)
  where state = 'mined' and purpose <> 'settle' and not gas_posted;
create unique index settlement_transaction_hash on settlement_transaction (network, hash);
create index settlement_transaction_unfinished on settlement_transaction (network, wallet, nonce)
  where state in ('signed','broadcast');
insert into app_access values ('settlement_transaction', 'select, insert, update');

-- What a facilitator that charges per settlement did in a month: its free allowance is counted from here.
create table facilitator_usage (
  facilitator text not null,
  month date not null check (extract(day from month) = 1),
  settled bigint not null check (settled >= 0),
  primary key (facilitator, month)
);
insert into app_access values ('facilitator_usage', 'select, insert, update');

-- Which facilitator was given a payment: it is never given to another one.
create table facilitator_hold (
  network text not null,
  payer text not null,
  payment_key bytea not null,
  facilitator text not null,
  held_at timestamptz not null default now(),
  primary key (payer, network, payment_key)
);
create index facilitator_hold_age on facilitator_hold (held_at);
insert into app_access values ('facilitator_hold', 'select, insert, update, delete');

-- Payers that a facilitator does not serve: they are turned away before a claim for a day.
create table refused_payer (
  payer text primary key check (payer ~ '^0x[0-9a-f]{40}$'),
  source text not null,
  reason text not null,
  refused_until timestamptz not null
);
-- Refusals that are over are deleted, and those in force are read every few seconds.
create index refused_payer_until on refused_payer (refused_until);
insert into app_access values ('refused_payer', 'select, insert, update, delete');

-- What outside users of our own facilitator did per hour, by payer and by address.
create table facilitator_budget (
  hour timestamptz not null,
  scope text not null check (scope in ('payer','address')),
  key text not null check (length(key) between 1 and 100),
  settles integer not null,
  gas_gwei bigint not null default 0,
  primary key (hour, scope, key)
);

-- Signing keys of the node. All processes read these rows, so they agree which key signs from when.
-- Private keys live in SIGNING_KEY_FILE; only a demo node, which several processes may join, shares them here.
create table keyring (
  key_id text primary key check (key_id ~ '^[A-Za-z0-9_-]{43}$'),
  public_x text not null unique check (public_x ~ '^[A-Za-z0-9_-]{43}$'),
  created_at timestamptz not null,
  activates_at timestamptz not null,
  retires_at timestamptz check (retires_at >= activates_at),
  revoked_at timestamptz,
  -- The log has its own long-lived key. Keys of both purposes share tables, files and rules.
  purpose text not null default 'response' check (purpose in ('response', 'log'))
);
insert into app_access values ('keyring', 'select, insert, update (retires_at, revoked_at)');

create table key_statement (
  statement_id bigint generated always as identity primary key,
  key_id text not null references keyring,
  action text not null check (action in ('add', 'rotate', 'revoke')),
  message jsonb not null,
  chain_id bigint not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  wallet_signature text,
  predecessor_key_id text references keyring,
  predecessor_signature text,
  created_at timestamptz not null,
  check ((predecessor_key_id is null) = (predecessor_signature is null)),
  check (wallet_signature is not null or predecessor_signature is not null)
);
create index key_statement_key_id on key_statement (key_id);
insert into app_access values ('key_statement', 'select, insert');
create trigger key_statement_append_only before update or delete or truncate on key_statement
  for each statement execute function refuse_change();

create table keyring_demo_secret (
  key_id text primary key references keyring,
  private_d text not null check (private_d ~ '^[A-Za-z0-9_-]{43}$')
);
insert into app_access values ('keyring_demo_secret', 'select, insert');

-- Secrets that all processes of one node must share, such as the key of stateless challenge nonces.
-- Losing one only invalidates challenges that are still open; it opens nothing.
create table shared_secret (
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
  secret bytea not null check (octet_length(secret) = 32),
  created_at timestamptz not null default now()
);
insert into app_access values ('shared_secret', 'select, insert');

-- Money we decided to send. The debt is off the books of its owner from the first row on, and in clearing until the
-- transfer is final. Each payout is one EIP-3009 authorization of the custody wallet whose nonce follows from the id, so
-- the token itself refuses a second transfer, whatever is sent how often.
create table payout (
  id text primary key,
  network text not null,
  payee text not null check (payee ~ '^0x[0-9a-f]{40}$'),
  amount_micro bigint not null check (amount_micro > 0),
  purpose text not null check (purpose ~ '^[a-z][a-z0-9_]{0,30}$'),
  -- What it is for, where there is one thing: the refunded payment.
  subject text,
  -- The account the debt was taken from, and goes back to if the transfer can never happen. Null: it is our own money.
  source_account text,
  -- waiting: a person must approve. queued: to be signed. signed: its bytes exist and may be on the chain at any time.
  -- parked: the payee cannot receive at the moment. paid: final. returned: provably never happened, the debt is back.
  state text not null check (state in ('waiting','queued','signed','parked','paid','returned')),
  reason text,
  payer text check (payer ~ '^0x[0-9a-f]{40}$'),
  nonce bytea check (octet_length(nonce) = 32),
  valid_before bigint,
  signature bytea,
  head_block bigint,
  transaction text,
  block_number bigint,
  block_hash text,
  created_at timestamptz not null,
  approved_by text,
  signed_at timestamptz,
  ended_at timestamptz,
  -- What a payout pays: the account of its purpose (a wallet, or the authorization that is refunded), and n, the number of
  -- its nonces that were used in final blocks before. Network, asset, custody address, purpose, account, n and the id of
  -- the database decide the EIP-3009 nonce.
  account text not null check (length(account) between 1 and 200),
  n bigint not null check (n >= 0),
  spent boolean not null default false,
  -- The part of a payout that does not count against the daily limit of its purpose: a refund of money that the same wallet
  -- recently paid in and did not use.
  uncounted_micro bigint not null default 0,
  -- A nonce that was used is never used again, so n goes on.
  constraint payout_spent_check check (state <> 'paid' or spent),
  constraint payout_signed_check check (state not in ('signed','parked') or (nonce is not null and signature is not null and
    valid_before is not null)),
  constraint payout_uncounted_check check (uncounted_micro >= 0)
);
create unique index payout_subject on payout (purpose, subject) where subject is not null and state <> 'returned';
create index payout_unfinished on payout (network, created_at) where state in ('waiting','queued','signed','parked');
create index payout_payee on payout (payee, created_at);
create index payout_signed_time on payout (network, signed_at) where signed_at is not null;
create unique index payout_open on payout (network, purpose, account) where state in ('waiting','queued','signed','parked');
create unique index payout_spent on payout (network, purpose, account, n) where spent;
create unique index payout_authorization on payout (network, payer, nonce) where state <> 'returned';
insert into app_access values ('payout', 'select, insert, update');

-- Payees that are left out until a person says otherwise.
create table payout_hold (
  network text not null,
  payee text not null check (payee ~ '^0x[0-9a-f]{40}$'),
  reason text not null,
  held_by text not null,
  held_at timestamptz not null default now(),
  primary key (network, payee)
);

-- One refund per payment, or call that was paid from credit, ever.
create table refund (
  payment_id text collate "C" primary key,
  amount_micro bigint not null check (amount_micro > 0),
  reason text not null check (length(reason) between 1 and 300),
  requested_by text not null,
  requested_at timestamptz not null default now(),
  -- asked: a running node carries it out. paying: it is a payout. credited: what was paid from credit is credit again.
  -- refused: the outcome says why.
  state text not null default 'asked' check (state in ('asked','paying','credited','refused')),
  outcome text,
  payout_id text references payout (id),
  decided_at timestamptz
);
create index refund_asked on refund (requested_at) where state = 'asked';
insert into app_access values ('refund', 'select, insert, update');

-- A call that used a pass or credit in place of a payment, from the hold to its end.
create table entitled_call (
  id text collate "C" not null,
  port text not null,
  account text not null check (length(account) = 42 and account ~ '^0x[0-9a-f]+$'),
  -- What is drawn on: a pass, or credit on one network.
  subject text not null,
  amount bigint not null check (amount >= 0),
  route_id text not null,
  fingerprint text not null,
  -- Its effect sends the money on, so what is captured goes into clearing first.
  to_clearing boolean not null,
  idempotency_key text check (length(idempotency_key) between 1 and 128),
  state text not null check (state in ('held','captured','released')),
  held_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  -- A draw under a mandate knows it, and the day it was counted for: a void gives both back.
  mandate_id text,
  mandate_day date,
  -- The balance that a hold is on. Null for passes.
  held_on bigint,
  primary key (id, account)
);
create unique index entitled_call_key on entitled_call (port, account, idempotency_key)
  where idempotency_key is not null and state <> 'released';
create index entitled_call_held on entitled_call (expires_at) where state = 'held';
create index entitled_call_drawn on entitled_call (ended_at) where port = 'credit' and state = 'captured';
create index entitled_call_released on entitled_call (ended_at) where state = 'released';
create index entitled_call_named on entitled_call (ended_at) where state = 'captured' and idempotency_key is not null;
create index entitled_call_drawn_by_account on entitled_call (account, ended_at) where port = 'credit' and state = 'captured';
insert into app_access values ('entitled_call', 'select, insert, update, delete');

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

-- What the owner of credit allowed somebody else to draw from it: signed once (EIP-712), then only counted and revoked.
create table mandate (
  -- A hash of what its owner signed, so an id has one owner.
  id text collate "C" not null check (id ~ '^mdt_[0-9a-f]{40}$'),
  owner text not null check (owner ~ '^0x[0-9a-f]{40}$'),
  delegate text not null check (delegate ~ '^0x[0-9a-f]{40}$' and delegate <> owner),
  -- Where it was signed. A contract wallet may belong to somebody else on another chain, so its credit there is not meant.
  chain_id bigint not null check (chain_id > 0),
  owner_kind text not null check (owner_kind in ('key', 'contract')),
  routes text[] not null check (array_length(routes, 1) between 1 and 32),
  cap_call_micro bigint not null check (cap_call_micro > 0),
  cap_day_micro bigint not null check (cap_day_micro >= cap_call_micro),
  cap_total_micro bigint not null check (cap_total_micro >= cap_day_micro),
  valid_until timestamptz not null,
  nonce bytea not null check (octet_length(nonce) = 32),
  signature bytea not null,
  created_at timestamptz not null,
  revoked_at timestamptz,
  -- When its owner last asked for it in its own request. Anyone may present a mandate, so that alone confirms nothing.
  confirmed_at timestamptz,
  -- The UTC day that day_micro counts. It never goes back, whatever the clock of a process says.
  day date not null default '1970-01-01',
  day_micro bigint not null default 0,
  total_micro bigint not null default 0,
  primary key (id, owner),
  constraint mandate_within_day check (day_micro between 0 and cap_day_micro),
  constraint mandate_within_total check (total_micro between 0 and cap_total_micro)
);
-- One mandate per number of the owner's own: of two versions of a text only one can ever count.
create unique index mandate_nonce on mandate (owner, nonce);
create index mandate_owner on mandate (owner, created_at);
create index mandate_delegate on mandate (delegate, created_at);
-- Mandates that nobody ever drew on go some time after they ran out: anybody can sign any number of them.
create index mandate_unused on mandate (valid_until) where total_micro = 0;
insert into app_access values ('mandate', 'select, insert, update, delete');
-- What was signed stays as it was signed.
create trigger mandate_terms_fixed
  before update of id, owner, delegate, chain_id, owner_kind, routes, cap_call_micro, cap_day_micro, cap_total_micro,
    valid_until, nonce, signature, created_at on mandate
  for each statement execute function refuse_change();

-- For anyone who reads balances and then decides by them: until the transaction ends nothing is posted to these accounts.
create function credit_lock(account_names text[]) returns table (name text, owed_micro bigint) language plpgsql
  security definer set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
  perform from ledger_balance b
    where b.account_id = any (array(select a.id from ledger_account a where a.name = any (account_names)))
    order by b.account_id for no key update;
  return query select a.name, b.owed_micro from ledger_account a join ledger_balance b on b.account_id = a.id
    where a.name = any (account_names);
end $$;

-- Credit that a wallet locked, so that its word counts for more. It comes back on request after a delay, and is lost,
-- wholly or in part, by an upheld ruling.
create table agent_bond (
  id text collate "C" not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  network text not null,
  micro bigint not null check (micro > 0),
  slashed_micro bigint not null default 0,
  -- releasing: asked for and still at stake. slashed: nothing is left of it.
  state text not null check (state in ('locked', 'releasing', 'released', 'slashed')),
  locked_at timestamptz not null,
  locked_until timestamptz not null check (locked_until > locked_at),
  release_delay_seconds integer not null check (release_delay_seconds >= 0),
  release_asked_at timestamptz,
  release_at timestamptz,
  ended_at timestamptz,
  primary key (id, wallet),
  constraint agent_bond_slashed check (slashed_micro between 0 and micro),
  check ((state = 'slashed') = (slashed_micro = micro)),
  check ((release_asked_at is null) = (release_at is null)),
  check ((state in ('released', 'slashed')) = (ended_at is not null))
);
create index agent_bond_wallet on agent_bond (wallet, locked_at);
create index agent_bond_due on agent_bond (release_at) where state = 'releasing';
insert into app_access values ('agent_bond', 'select, insert, update');

-- Each ruling can take from a bond once.
create table bond_slash (
  bond_id text collate "C" not null,
  wallet text not null,
  ruling text not null check (length(ruling) between 1 and 200),
  micro bigint not null check (micro > 0),
  reason text not null check (length(reason) between 1 and 300),
  slashed_by text not null,
  slashed_at timestamptz not null,
  primary key (bond_id, wallet, ruling),
  foreign key (bond_id, wallet) references agent_bond
);
insert into app_access values ('bond_slash', 'select, insert');
create trigger bond_slash_append_only before update or delete or truncate on bond_slash
  for each statement execute function refuse_change();

-- Documents about a wallet are kept for seconds; anyone who keeps one learns at once that an authorization came or went.
create function tell_mandate_owner() returns trigger language plpgsql as $$
begin
  perform pg_notify('agent_changed', new.owner);
  return null;
end $$;
-- Draws only change counters, so they tell nobody.
create trigger mandate_news after insert or update of revoked_at on mandate
  for each row execute function tell_mandate_owner();

-- Balances and open clearing as of the last seal, rolled up in its transaction, so that nobody reads millions of entries. A cache:
-- whatever it says can be computed again from the entries.
create table books_rollup_account (
  account_id bigint primary key,
  balance_micro numeric not null
);

-- What an account holds: as of the last seal, and what was posted since.
create function ledger_sum(account bigint) returns numeric language sql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select coalesce((select f.balance_micro from books_rollup_account f where f.account_id = account), 0)
    + coalesce((select sum(e.amount_micro) from ledger_entry e where e.account_id = account
        and e.transaction_id >= (select min(u.transaction_id) from ledger_unsealed u)
        and exists (select from ledger_unsealed u where u.transaction_id = e.transaction_id)), 0)
$$;

-- What clearing accounts hold, per payment; rows that come to zero go.
create table books_rollup_clearing (
  account_id bigint not null,
  payment_id text collate "C" not null,
  balance_micro numeric not null,
  since timestamptz not null,
  primary key (account_id, payment_id)
);

-- Payments with a lower id are counted.
create table payment_count_head (
  only_one boolean primary key default true check (only_one),
  until_payment text collate "C" not null
);
insert into payment_count_head values (true, '');

create table books_rollup_payment (
  state text primary key,
  payments bigint not null,
  amount_micro numeric not null,
  oldest timestamptz not null
);

-- What was counted and changes its state later, which few do, is counted as what it is then. Shares a lock with the count, so
-- that each change is seen by one of the two.
create function payment_recount() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(1634952033, 12);
  insert into books_rollup_payment as f (state, payments, amount_micro, oldest)
    select c.state, c.n, c.n * c.micro, c.claimed_at
    from (values (old.state, -1, old.amount_micro, old.claimed_at), (new.state, 1, new.amount_micro, new.claimed_at))
      c (state, n, micro, claimed_at)
    where c.state not in ('claimed','settling','unknown','settled')
      and new.id < (select h.until_payment from payment_count_head h)
    on conflict (state) do update set payments = f.payments + excluded.payments,
      amount_micro = f.amount_micro + excluded.amount_micro, oldest = least(f.oldest, excluded.oldest);
  return null;
end $$;
create trigger payment_recounted after update of state on payment for each row
  when (old.ended_at is not null or old.claimed_at < now() - interval '5 minutes') execute function payment_recount();

-- Holds credit for many calls at once: the nonce of each proof, the counters of its mandate, the balance and the row of the
-- call are one statement, so that they happen together or not at all. A call that cannot be held says why and leaves the
-- others alone. Candidates are places in the pool of credit accounts, best first, separated by blanks. Runs with the
-- owner's right, for balances must be locked before they are checked, and the application itself may not touch them.
-- With take_now there is no time between hold and capture: the caller posts what is taken in the same transaction, and
-- until then the locked balances keep others out. Calls whose price is shared with others draw only on what arrived at
-- custody, because the shares are paid from there.
create function credit_reserve(
  hold_ids text[], hold_accounts text[], hold_candidates text[], hold_amounts bigint[], hold_routes text[],
  hold_fingerprints text[], hold_keys text[], hold_clearing boolean[], hold_mandates text[],
  nonce_keys text[], nonce_expiries timestamptz[],
  pool_credits text[], pool_networks text[],
  now_at timestamptz, until_at timestamptz, take_now boolean
) returns table (place integer, outcome text, network text, left_micro bigint) language plpgsql
  security definer set search_path = public, pg_temp set enable_seqscan = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  first_state text := case when take_now then 'captured' else 'held' end;
  taken_at timestamptz := case when take_now then now_at end;
  hold_count integer := coalesce(array_length(hold_ids, 1), 0);
  today date := (now_at at time zone 'utc')::date;
  counted_day date;
  fresh boolean[];
  credit_ids bigint[];
  free bigint[];
  at_pay_to bigint[];
  outcomes text[] := array_fill(null::text, array[hold_count]);
  chosen integer[] := array_fill(null::integer, array[hold_count]);
  lefts bigint[] := array_fill(null::bigint, array[hold_count]);
  days date[] := array_fill(null::date, array[hold_count]);
  terms mandate%rowtype;
  pausing record;
  candidate integer;
begin
  -- Not waited for on its way to disk: nothing leaves the node before the capture, whose own commit writes all that came
  -- before it. A hold that a crash loses has lost its nonce and its counts with it, and nobody was served.
  if not take_now then
    perform set_config('synchronous_commit', 'off', true);
  end if;

  with claimed as (
    insert into nonce_claim (scope, key, expires_at)
      select 'erc8128', n.key, n.expires from unnest(nonce_keys, nonce_expiries) n (key, expires)
      order by n.key, n.expires desc
      on conflict do nothing returning key
  )
  select array_agg(c.key is not null order by n.place) into fresh
    from unnest(nonce_keys) with ordinality n (key, place) left join claimed c on c.key = n.key;

  if array_length(array_remove(hold_mandates, null), 1) > 0 then
    perform from mandate m where m.id = any (hold_mandates) order by m.id for no key update;
    select p.* into strict pausing from pause p where p.name = 'mandates';
  end if;
  select array_agg((select a.id from ledger_account a where a.name = p.name) order by p.place) into credit_ids
    from unnest(pool_credits) with ordinality p (name, place);
  perform from ledger_balance b where b.account_id = any (credit_ids) order by b.account_id for no key update;
  select array_agg((select b.owed_micro - b.held_micro from ledger_balance b where b.account_id = c.id) order by c.place),
      array_agg((select b.pay_to_micro from ledger_balance b where b.account_id = c.id) order by c.place)
    into free, at_pay_to
    from unnest(credit_ids) with ordinality c (id, place);

  for i in 1 .. hold_count loop
    if not fresh[i] or array_position(nonce_keys, nonce_keys[i]) < i then
      outcomes[i] := 'replayed';
      continue;
    end if;
    -- One inside the other: as one condition, its query would be planned for calls without a name too.
    if hold_keys[i] is not null then
      if exists (
        select from entitled_call e where e.port = 'credit' and e.account = hold_accounts[i]
          and e.idempotency_key = hold_keys[i] and e.state <> 'released') then
        outcomes[i] := 'named';
        continue;
      end if;
    end if;
    counted_day := null;
    if hold_mandates[i] is not null then
      select m.* into terms from mandate m where m.id = hold_mandates[i];
      counted_day := greatest(terms.day, today);
      if terms.day < counted_day then
        terms.day_micro := 0;
      end if;
      outcomes[i] := case
        when terms.id is null then 'mandate_unknown'
        when terms.revoked_at is not null then 'mandate_revoked'
        when terms.valid_until <= now_at then 'mandate_expired'
        when pausing.paused and pausing.changed_by <> 'node' then 'mandate_paused'
        when pausing.paused and coalesce(terms.confirmed_at, '-infinity') <= pausing.changed_at then 'mandate_unconfirmed'
        when hold_amounts[i] > terms.cap_call_micro then 'mandate_call'
        when terms.day_micro + hold_amounts[i] > terms.cap_day_micro then 'mandate_day'
        when terms.total_micro + hold_amounts[i] > terms.cap_total_micro then 'mandate_total'
      end;
      if outcomes[i] is not null then
        lefts[i] := case outcomes[i] when 'mandate_day' then terms.cap_day_micro - terms.day_micro
          when 'mandate_total' then terms.cap_total_micro - terms.total_micro end;
        continue;
      end if;
    end if;
    foreach candidate in array string_to_array(hold_candidates[i], ' ')::integer[] loop
      if free[candidate] - (case when hold_clearing[i] then at_pay_to[candidate] else 0 end) >= hold_amounts[i] then
        chosen[i] := candidate;
        exit;
      end if;
    end loop;
    if chosen[i] is null then
      outcomes[i] := 'not_enough';
      continue;
    end if;
    -- A name may be taken by a hold of another process that is not committed yet; the rest is inserted together below.
    if hold_keys[i] is not null then
      insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, idempotency_key, state, held_at,
          ended_at, expires_at, to_clearing, mandate_id, mandate_day, held_on)
        values (hold_ids[i], 'credit', hold_accounts[i], pool_networks[chosen[i]], hold_amounts[i], hold_routes[i],
          hold_fingerprints[i], hold_keys[i], first_state, now_at, taken_at, until_at, hold_clearing[i], hold_mandates[i],
          counted_day, credit_ids[chosen[i]])
        on conflict do nothing;
      if not found then
        outcomes[i] := 'named';
        chosen[i] := null;
        continue;
      end if;
    end if;
    days[i] := counted_day;
    if hold_mandates[i] is not null then
      update mandate m set day = counted_day, day_micro = terms.day_micro + hold_amounts[i],
          total_micro = m.total_micro + hold_amounts[i]
        where m.id = hold_mandates[i];
    end if;
    free[chosen[i]] := free[chosen[i]] - hold_amounts[i];
    lefts[i] := free[chosen[i]];
    outcomes[i] := 'held';
  end loop;

  insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, state, held_at, ended_at, expires_at,
      to_clearing, mandate_id, mandate_day, held_on)
    select h.id, 'credit', h.account, pool_networks[h.chosen], h.amount, h.route, h.fingerprint, first_state, now_at,
        taken_at, until_at, h.clearing, h.mandate, h.day, credit_ids[h.chosen]
      from unnest(hold_ids, hold_accounts, chosen, hold_amounts, hold_routes, hold_fingerprints, hold_keys, hold_clearing,
        hold_mandates, days) h (id, account, chosen, amount, route, fingerprint, key, clearing, mandate, day)
      where h.chosen is not null and h.key is null;
  if not take_now then
    update ledger_balance b set held_micro = b.held_micro + h.micro
      from (select credit_ids[h.chosen] as id, sum(h.amount)::bigint as micro
            from unnest(chosen, hold_amounts) h (chosen, amount) where h.chosen is not null group by 1) h
      where b.account_id = h.id;
  end if;

  return query
    select i.i, outcomes[i.i], pool_networks[chosen[i.i]], lefts[i.i] from generate_series(1, hold_count) i (i) order by i.i;
end $$;

-- Ends holds that are still held, and frees what they kept aside. For those taken, posting must follow in the same transaction.
create function credit_end(hold_ids text[], end_state text, now_at timestamptz)
  returns table (id text, account text, subject text, amount bigint, route_id text, to_clearing boolean, mandate_id text,
    mandate_day date, is_posted boolean) language plpgsql
  security definer set search_path = public, pg_temp set enable_seqscan = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  ended entitled_call[];
begin
  -- Mandates before balances, as a hold does, so that the two never wait for each other.
  if end_state = 'released' then
    perform from mandate m where m.id = any (array(
        select e.mandate_id from entitled_call e where e.id = any (hold_ids) and e.mandate_id is not null))
      order by m.id for no key update;
  end if;
  with moved as (
    update entitled_call e set state = end_state, ended_at = now_at
      where e.id = any (hold_ids) and e.port = 'credit' and e.state = 'held' returning e)
  select array_agg(m.e) into ended from moved m;
  perform from ledger_balance b
    where b.account_id = any (array(select distinct e.held_on from unnest(ended) e)) order by b.account_id for no key update;
  update ledger_balance b set held_micro = b.held_micro - h.micro
    from (select e.held_on, sum(e.amount)::bigint as micro from unnest(ended) e where e.held_on is not null group by 1) h
    where b.account_id = h.held_on;
  return query select e.id, e.account, e.subject, e.amount, e.route_id, e.to_clearing, e.mandate_id, e.mandate_day,
    e.held_on is null from unnest(ended) e;
end $$;

-- Takes many holds and posts what they move, in one statement. Returns how many were still held; nothing is posted unless all were.
create function credit_capture(
  hold_ids text[], now_at timestamptz,
  account_names text[], account_kinds text[], account_units text[], account_guards boolean[],
  transaction_references text[], transaction_kinds text[], transaction_payments text[], transaction_memos text[],
  line_transactions integer[], line_accounts integer[], line_amounts bigint[]
) returns integer language plpgsql as $$
declare
  ended integer;
begin
  select count(*) into ended from credit_end(hold_ids, 'captured', now_at);
  if ended < array_length(hold_ids, 1) then
    return ended;
  end if;
  perform from ledger_post(account_names, account_kinds, account_units, account_guards, transaction_references,
    transaction_kinds, transaction_payments, transaction_memos, line_transactions, line_accounts, line_amounts);
  return ended;
end $$;

-- Every transfer of USDC into or out of an address of ours is one row. A nonce can be signed many times; a transfer
-- happens once, so money is posted by this key and never by a nonce.
create table transfer (
  id bigint generated always as identity primary key,
  -- Columns of one length come one after the other: between others a row has gaps.
  amount_micro bigint not null check (amount_micro > 0),
  block_number bigint not null,
  posted_at timestamptz,
  seen_at timestamptz not null default now(),
  -- When an explanation is tried again, and how often it was.
  try_at timestamptz not null default now(),
  tries integer not null default 0,
  -- Place of the log within its transaction. The place within the block changes when the block is reorganised.
  position integer not null check (position >= 0),
  -- Number of its next posting: an even one posts it, an odd one reverses that after a reorganisation.
  turn smallint not null default 0,
  -- Seen in a final block.
  final boolean not null default false,
  -- Money that left custody and that nothing explains.
  missing boolean not null default false,
  network text not null,
  asset asset_id not null check (asset = network or split_part(asset, '/', 1) = network),
  transaction bytea not null check (octet_length(transaction) = 32),
  sender text not null,
  recipient text not null,
  -- The payment key, where the chain shows one; null for a plain transfer.
  payment_key bytea constraint transfer_key_length check (octet_length(payment_key) between 16 and 128),
  block_hash bytea not null,
  -- What its money was posted as, and for which payment, payout or wallet. Null until it is explained. `review` and `gap`, for
  -- which of our wallets: until an operator decides that it is credit of its sender, or revenue.
  posted_as text check (posted_as ~ '^[a-z][a-z_]{0,39}$'),
  posted_for text,
  unique (network, transaction, position)
);
create index transfer_unexplained on transfer (network, try_at) where posted_as is null and final;
-- Only ever compared for equality: the three themselves would be most of an index with one entry for each sale.
create index transfer_by_key on transfer using hash ((network || sender || encode(payment_key, 'hex'))) where payment_key is not null;
-- Nearly all transfers pay for something.
create index transfer_not_payment on transfer (network, sender, id) where payment_key is not null and posted_as is distinct from 'payment';
create index transfer_not_final on transfer (network, block_number) where not final;
create index transfer_credited on transfer (network, sender, posted_at) where posted_as = 'credit';
-- What a wallet sent between a backup and its restore: there are few of those, and its other transfers need not be read for them.
create index transfer_in_gap on transfer (network, sender) where posted_as = 'gap';
create index transfer_in_review on transfer (id) where posted_as in ('review', 'gap');
create index transfer_missing on transfer (network) where missing and posted_as is null;
insert into app_access values ('transfer', 'select, insert, update');

-- Money that moved names its transfer, and moves by exactly that amount of that asset. What an address held before the books
-- began is its opening.
create function ledger_check_moved() returns trigger language plpgsql security definer
  set search_path = public, pg_temp set enable_seqscan = off set enable_mergejoin = off set enable_hashjoin = off as $$
declare
  bad bigint;
begin
  -- By one key each: beside the network the planner would go through every transfer of it.
  select e.transaction_id into bad from added e
    where (select a.is_wallet from ledger_account a where a.id = e.account_id)
      and not coalesce((select t.kind = 'opening' or (
          select f.amount_micro = abs(e.amount_micro) and f.network = (select a.network from ledger_account a where a.id = e.account_id)
          from transfer f where f.id = t.transfer_id)
        from ledger_transaction t where t.id = e.transaction_id), false)
    limit 1;
  if found then
    raise exception 'ledger transaction % moves money without a transfer of that amount', bad
      using errcode = 'check_violation', constraint = 'ledger_entry_moved';
  end if;
  return null;
end $$;
create trigger ledger_entry_moved after insert on ledger_entry
  referencing new table as added for each statement execute function ledger_check_moved();

-- Posts many transactions at once. Lines name their transaction by its place in the lists, starting at 1. A reference
-- that was posted before with the same lines counts as done; with other lines nothing at all is posted.
-- Work goes account names, then references, then balances, each in sorted order, so that two batches cannot deadlock.
create function ledger_post(
  account_names text[], account_kinds text[], account_units text[], account_guards boolean[],
  transaction_references text[], transaction_kinds text[], transaction_payments text[], transaction_memos text[],
  line_transactions integer[], line_accounts integer[], line_amounts bigint[],
  transaction_transfers bigint[] default null, transaction_turns smallint[] default null
) returns table (place integer, transaction_id bigint, is_new boolean) language plpgsql
  security definer set search_path = public, pg_temp set enable_seqscan = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  account_ids bigint[];
  posted_ids bigint[];
  conflicting text[];
begin
  if (select count(distinct l.owner) from unnest(line_transactions) l (owner)
      where l.owner between 1 and cardinality(transaction_references)) < cardinality(transaction_references) then
    raise exception 'a ledger transaction has no entries'
      using errcode = 'check_violation', constraint = 'ledger_transaction_has_entries';
  end if;

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

  perform set_config('assay.posting', 'on', true);
  with inserted as (
    insert into ledger_transaction (reference, kind, payment_id, memo, transfer_id, transfer_turn)
      select n.reference, n.kind, n.payment, n.memo, n.transfer, n.turn
      from unnest(transaction_references, transaction_kinds, transaction_payments, transaction_memos,
        transaction_transfers, transaction_turns) n (reference, kind, payment, memo, transfer, turn)
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

  perform set_config('assay.posting', '', true);

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

-- Takes transfers for posting: a row that is not there is inserted, one that nothing explains yet is taken. The answer
-- names those that the caller may post; the others were posted before.
create function transfer_take(
  networks text[], assets text[], transactions bytea[], positions integer[], senders text[], recipients text[],
  amounts bigint[], payment_keys bytea[], block_numbers bigint[], block_hashes bytea[], kinds text[], subjects text[],
  now_at timestamptz
) returns table (place integer, id bigint, turn smallint) language sql
  set enable_seqscan = off set enable_mergejoin = off as $$
  with given as (
    select * from unnest(networks, assets, transactions, positions, senders, recipients, amounts, payment_keys, block_numbers,
      block_hashes, kinds, subjects) with ordinality
      n (network, asset, transaction, position, sender, recipient, amount, payment_key, block_number, block_hash, kind, subject, place)
  ), taken as (
    insert into transfer as t (network, asset, transaction, position, sender, recipient, amount_micro, payment_key, block_number,
      block_hash, posted_as, posted_for, posted_at)
    select network, asset, transaction, position, sender, recipient, amount, payment_key, block_number, block_hash, kind, subject,
      now_at
    from given order by network, transaction, position
    on conflict (network, transaction, position) do update
      set posted_as = excluded.posted_as, posted_for = excluded.posted_for, posted_at = excluded.posted_at,
        block_number = excluded.block_number, block_hash = excluded.block_hash
      where t.posted_as is null and t.asset = excluded.asset and t.sender = excluded.sender and t.recipient = excluded.recipient
        and t.amount_micro = excluded.amount_micro
    returning t.id, t.turn, t.network, t.transaction, t.position
  )
  select g.place::integer, t.id, t.turn from given g join taken t using (network, transaction, position)
$$;

-- Addresses that belong to this database, now or earlier. One that is no longer paid to is compared with the chain until
-- it is empty.
create table own_address (
  network text not null,
  address text not null check (address ~ '^0x[0-9a-f]{40}$'),
  payee text not null check (payee in ('pay_to', 'custody')),
  -- Nobody else is paid at it, so a transfer without a claim belongs to its sender.
  exclusive boolean not null,
  since timestamptz not null default now(),
  retired_at timestamptz,
  primary key (network, address, payee)
);
insert into app_access values ('own_address', 'select, insert, update');

-- Leases are granted and checked by one clock, the database's: processes may disagree about the time.
-- Its own function, so that a simulation can put its own clock in the place of this one.
create function lease_now() returns timestamptz language sql stable as 'select clock_timestamp()';

-- A process lives while its session holds its lock, or for as long as it said.
create function owner_alive(asked bigint) returns boolean language sql stable as $$
  select exists (
    select from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
      and database = (select oid from pg_database where datname = current_database())
      and classid::bigint = (asked >> 32) and objid::bigint = (asked & 4294967295)
  ) or exists (select from payment_owner where owner = asked and alive_until > lease_now())
$$;

-- Names this database in the nonces of its payouts. A backup carries it, so a restored database makes the same nonces;
-- two databases never make the same one.
create table database_identity (
  only_one boolean primary key default true check (only_one),
  id uuid not null default gen_random_uuid()
);
insert into app_access values ('database_identity', 'select');
insert into database_identity default values;
create trigger database_identity_is_fixed before update or delete or truncate on database_identity
  for each statement execute function refuse_change();

create function refuse_unspending() returns trigger language plpgsql as $$
begin
  raise exception 'n of a payout is never lowered' using errcode = 'check_violation', constraint = 'payout_n_grows';
end $$;
create trigger payout_n_grows before update on payout for each row
  when (old.spent and not (new.spent and new.n = old.n and new.account = old.account and new.purpose = old.purpose
    and new.network = old.network)) execute function refuse_unspending();

-- A restore takes the books back to an earlier time; the chain goes on. Until every transfer up to `until_block` has its
-- row nothing is paid out on that network. Nothing is credited by itself in blocks up to `lapsed_block`, the first final
-- one after `lapses_at`: until then an authorization that was sold before the restore can be included again.
create table restore_gap (
  id bigint generated always as identity primary key,
  network text not null,
  reason text not null check (length(reason) between 1 and 300),
  until_block bigint not null check (until_block >= 0),
  lapses_at timestamptz not null,
  lapsed_block bigint check (lapsed_block >= 0),
  detected_at timestamptz not null default now(),
  reconciled_at timestamptz,
  -- When a process last saw the database that was lost, from its data folder; null where that was lost, too.
  last_seen_at timestamptz,
  -- A second restore while a gap is open is its own restore.
  noticed_at timestamptz not null default clock_timestamp()
);
create unique index restore_gap_open on restore_gap (network) where reconciled_at is null;
insert into app_access values ('restore_gap', 'select, insert, update');

-- How far custody and books were apart when they were last compared, per network. Two final blocks in a row with less
-- money than the books say stop payouts until the difference is gone or a person accepts the loss.
create table custody_difference (
  network text primary key,
  block_number bigint not null,
  difference_micro bigint not null,
  stopped_at timestamptz
);
insert into app_access values ('custody_difference', 'select, insert, update');

-- Bearer tokens of subscriptions and passes are made from their own secret and carry its version. Revoking a version
-- ends every token made with it, in all processes at once, and its secret is deleted.
create table token_secret (
  version integer primary key check (version > 0),
  secret bytea check (octet_length(secret) = 32),
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  constraint token_secret_deleted check ((secret is null) = (revoked_at is not null))
);
-- One at a time makes new tokens.
create unique index token_secret_in_force on token_secret ((true)) where revoked_at is null;
insert into app_access values ('token_secret', 'select, insert, update');

-- Challenges of the Payment authentication scheme are bound by a MAC that names the version of its secret. A secret makes
-- challenges for a day and is accepted for a week more, so that processes need not change it at the same moment.
create table challenge_secret (
  version integer primary key check (version > 0),
  secret bytea not null check (octet_length(secret) = 32),
  made_at timestamptz not null
);
insert into app_access values ('challenge_secret', 'select, insert, delete');

-- Runs with the owner's right, for the application itself may not write balances. A part that grows is noted after its
-- posting, one that leaves before.
create function credit_at_pay_to(account_name text, change_micro bigint) returns void language sql
  security definer set search_path = public, pg_temp set enable_seqscan = off as $$
  update ledger_balance b set pay_to_micro = greatest(0, least(b.owed_micro, b.pay_to_micro + change_micro))
    where b.account_id = (select a.id from ledger_account a where a.name = account_name)
$$;

-- How many transactions of a settlement wallet the chain was seen to count. Those that the books do not know were sent
-- before a restore, or by somebody else with the same key.
create table settlement_wallet_count (
  network text not null,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  seen_count bigint not null check (seen_count >= 0),
  primary key (network, wallet)
);
insert into app_access values ('settlement_wallet_count', 'select, insert, update');

-- What an operator can pause, one row each, with what a pause stops and what goes on beside it. A shop brings its own.
create table pause (
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,30}$'),
  stops text not null check (stops <> ''),
  leaves_running text not null check (leaves_running <> ''),
  paused boolean not null default false,
  reason text not null default '',
  changed_by text not null default 'installation',
  changed_at timestamptz not null default now()
);
insert into app_access values ('pause', 'select, update');
insert into pause (name, stops, leaves_running) values
  ('sales', 'paid answers: they are refused with 503, before anything is charged', 'free answers and payouts'),
  ('payouts', 'money leaving custody: payouts, refunds, withdrawals', 'sales; what is owed is sent later'),
  ('settlement', 'checking and settling payments for other sellers', 'own sales'),
  ('mandates', 'what agents draw from the credit of others', 'what owners pay from their own credit');

create function announce_pause() returns trigger language plpgsql as $$
begin
  perform pg_notify('pause', '');
  return null;
end $$;
create trigger pause_changed after update on pause for each statement execute function announce_pause();

-- The rollup of the books by role and purpose: what custody holds for whom is read from here, however many holders there are.
create table books_rollup_group (
  unit text not null,
  kind text not null,
  role text not null,
  purpose text not null,
  balance_micro numeric not null,
  -- So that nobody counts them all to show the balance.
  accounts bigint not null default 0,
  primary key (unit, kind, role, purpose)
);

-- What was earned and spent per day (UTC), for the operator's own accounts.
create table books_rollup_day (
  day date not null,
  unit text not null,
  kind text not null,
  role text not null,
  purpose text not null,
  debit_micro numeric not null,
  credit_micro numeric not null,
  primary key (day, unit, kind, role, purpose)
);

-- Few wallets have credit whose money is at PAY_TO; its sum is read in each round of payouts.
create index ledger_balance_at_pay_to on ledger_balance (account_id) include (pay_to_micro) where pay_to_micro > 0;

-- The operator's own money leaves custody by a payout that an operator or a schedule asks for.
insert into ledger_purpose (purpose, backed_by, paid_out) values ('withdrawal', 'operator', true);

create table withdrawal (
  id text primary key,
  network text not null,
  payee text not null check (payee ~ '^0x[0-9a-f]{40}$'),
  -- Null: all that can be withdrawn when it is carried out.
  amount_micro bigint check (amount_micro > 0),
  -- Which payout to this payee is meant: a restored request whose payout the chain shows is done.
  n bigint not null check (n >= 0),
  requested_by text not null check (length(requested_by) between 1 and 200),
  scheduled boolean not null default false,
  requested_at timestamptz not null,
  -- asked: a running node carries it out. paying: it is a payout. refused: the outcome says why.
  state text not null default 'asked' check (state in ('asked', 'paying', 'refused')),
  outcome text,
  payout_id text references payout (id),
  decided_at timestamptz
);
create unique index withdrawal_asked on withdrawal (network, payee) where state = 'asked';
create index withdrawal_time on withdrawal (network, requested_at);
insert into app_access values ('withdrawal', 'select, insert, update');

-- Where the operator's money may be sent, as configured at the last start; every change is in the audit log.
create table withdraw_setting (
  only_one boolean primary key default true check (only_one),
  destinations text[] not null
);
insert into app_access values ('withdraw_setting', 'select, insert, update');

-- What custody held when it was last checked, per network, for the operator's pages and commands.
create table custody_status (
  network text primary key,
  block_number bigint not null,
  balance_micro bigint not null,
  posted_micro bigint not null,
  others_micro bigint not null,
  debts_micro bigint not null,
  leaving_micro bigint not null,
  reserved_micro bigint not null,
  withdrawable_micro bigint not null,
  checked_at timestamptz not null
);
insert into app_access values ('custody_status', 'select, insert, update');

-- What a payer says is wrong with an answer, and what the operator decided. Once per payment.
create table payment_dispute (
  id text collate "C" not null,
  payment_id text collate "C" not null,
  payer text not null check (payer ~ '^0x[0-9a-f]{40}$'),
  text text not null check (length(text) between 1 and 4000),
  evidence bytea check (octet_length(evidence) between 1 and 32768),
  evidence_type text,
  state text not null default 'open' check (state in ('open', 'accepted', 'rejected')),
  opened_at timestamptz not null,
  refund_micro bigint check (refund_micro > 0),
  decision text check (length(decision) between 1 and 1000),
  decided_by text,
  decided_at timestamptz,
  primary key (id, payer),
  unique (payment_id, payer),
  check ((evidence is null) = (evidence_type is null)),
  check ((state = 'open') = (decided_at is null)),
  check ((state = 'accepted') = (refund_micro is not null))
);
create index payment_dispute_open on payment_dispute (opened_at, id) where state = 'open';
create index payment_dispute_payer on payment_dispute (payer, opened_at);
insert into app_access values ('payment_dispute', 'select, insert, update');

-- Payment channels of the scheme `batch-settlement`. A sale raises what was charged in its own transaction; what the contract
-- holds is a copy of what was last read.
create table channel (
  network text not null,
  id bytea not null check (octet_length(id) = 32),
  payer text not null,
  payer_authorizer text not null,
  receiver text not null,
  receiver_authorizer text not null,
  token text not null,
  withdraw_delay integer not null,
  salt bytea not null check (octet_length(salt) = 32),
  -- Since the channel was opened.
  charged_micro bigint not null check (charged_micro >= 0),
  -- Rises with each committed sale, also where nothing was charged.
  sequence bigint not null default 0,
  -- The newest voucher.
  signed_micro bigint not null default 0,
  signature bytea,
  -- The highest voucher that others may know: from a claim, or from an answer that corrected the payer.
  public_micro bigint not null default 0,
  -- As the contract had it, at which block: what is read of an older one changes nothing.
  at_block bigint not null default 0,
  balance_micro bigint not null default 0,
  claimed_micro bigint not null default 0,
  refund_nonce bigint not null default 0,
  withdraw_started_at bigint not null default 0,
  -- Of what was charged: claimed at a final block, and gone for good.
  posted_micro bigint not null default 0,
  lost_micro bigint not null default 0,
  -- refunding: a refund is on its way and nothing is sold.
  state text not null default 'open' check (state in ('open', 'refunding')),
  refund_at timestamptz,
  opened_at timestamptz not null,
  unclaimed_since timestamptz,
  claim_failing_since timestamptz,
  -- The id is a hash of its parties, so it has one payer.
  primary key (network, id, payer),
  check (signed_micro >= charged_micro or sequence = 0)
) with (fillfactor = 70);
create index channel_unclaimed on channel (network) where charged_micro > claimed_micro;
create index channel_unposted on channel (network) where charged_micro > posted_micro + lost_micro;
create index channel_refunded on channel (payer, refund_at) where refund_at is not null;
create index channel_refunding on channel (network) where state = 'refunding';
insert into app_access values ('channel', 'select, insert, update');

-- A sale by a voucher, with the request it is bound to. Equal vouchers recur, so a sale has its number.
create table channel_sale (
  network text not null,
  channel_id bytea not null,
  sequence bigint not null,
  call_id text collate "C" not null,
  payer text not null,
  fingerprint bytea not null,
  identifier_hash bytea,
  signed_micro bigint not null,
  charge_micro bigint not null check (charge_micro >= 0),
  route_id text not null,
  sold_at timestamptz not null,
  delivered_at timestamptz,
  primary key (network, channel_id, sequence, payer),
  unique (call_id, payer)
);
create unique index channel_sale_identifier on channel_sale (payer, identifier_hash) where identifier_hash is not null;
create index channel_sale_undelivered on channel_sale (network, channel_id, sequence) where delivered_at is null;
create index channel_sale_time on channel_sale using brin (sold_at);

-- A deposit, written before it is sent. One at a time for each channel: the next waits until this one is known.
create table channel_deposit (
  network text not null,
  payer text not null,
  -- Of the EIP-3009 authorization.
  nonce bytea not null check (octet_length(nonce) = 32),
  channel_id bytea not null,
  amount_micro bigint not null check (amount_micro > 0),
  valid_before bigint not null,
  state text not null check (state in ('sending', 'done', 'failed')),
  transaction text,
  sent_at timestamptz not null,
  ended_at timestamptz,
  primary key (network, payer, nonce)
);
create unique index channel_deposit_open on channel_deposit (network, channel_id, payer) where state = 'sending';

-- Up to which block the withdrawals that payers began were looked for.
create table channel_cursor (
  network text primary key,
  block_number bigint not null
);
insert into app_access values ('channel_cursor', 'select, insert, update');

-- Partitions that left for files. From the moment of detaching they are no part of their table; the files have been
-- written, and the rows are gone, once there is a hash.
create table archived_partition (
  name text primary key,
  table_name text not null references partitioned_table,
  -- Its first day, and the first day after it (UTC).
  from_day date not null,
  until_day date not null check (until_day > from_day),
  detached_at timestamptz not null,
  -- Of its manifest, which has the hash of every file.
  manifest_sha256 bytea check (octet_length(manifest_sha256) = 32),
  archived_at timestamptz,
  check ((manifest_sha256 is null) = (archived_at is null))
);
insert into app_access values ('archived_partition', 'select');

-- What archived entries come to, so that balances can still be computed from entries. Clearing accounts by payment, as far as
-- something was left in them; else the payment is ''.
create table ledger_archived (
  account_id bigint not null,
  payment_id text collate "C" not null,
  amount_micro numeric not null,
  since timestamptz not null,
  primary key (account_id, payment_id)
);
insert into app_access values ('ledger_archived', 'select');

-- How far kept balances were compared with the entries in this round, and what the round before found.
create table balance_check (
  only_one boolean primary key default true check (only_one),
  after_account bigint not null default 0,
  found integer not null default 0,
  last_found integer not null default 0,
  round_ended_at timestamptz
);
insert into balance_check default values;
insert into app_access values ('balance_check', 'select, update');
