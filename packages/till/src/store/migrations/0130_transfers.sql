-- contract: nothing is released yet, so no earlier version runs beside this one.
-- Every transfer of USDC into or out of an address of ours is one row. A nonce can be signed many times; a transfer
-- happens once, so money is booked by this key and never by a nonce.
create table transfer (
  id bigint generated always as identity primary key,
  network text not null,
  asset text not null,
  transaction text not null,
  -- Place of the log within its transaction. The place within the block changes when the block is reorganised.
  position integer not null check (position >= 0),
  sender text not null,
  recipient text not null,
  amount_micro bigint not null check (amount_micro > 0),
  nonce bytea check (octet_length(nonce) = 32),
  block_number bigint not null,
  block_hash text not null,
  -- What its money was booked as, and for which payment, payout or wallet. Null until it is explained.
  booked_as text check (booked_as ~ '^[a-z][a-z_]{0,39}$'),
  booked_for text,
  booked_at timestamptz,
  -- Number of its next posting: even books it, odd reverses that after a reorganisation.
  turn smallint not null default 0,
  -- Seen in a final block.
  final boolean not null default false,
  seen_at timestamptz not null default now(),
  -- When an explanation is tried again, and how often it was.
  try_at timestamptz not null default now(),
  tries integer not null default 0,
  unique (network, asset, transaction, position)
);
create index transfer_unexplained on transfer (network, try_at) where booked_as is null and final;
create index transfer_nonce on transfer (network, sender, nonce) where nonce is not null;
create index transfer_not_final on transfer (network, block_number) where not final;
insert into app_access values ('transfer', 'select, insert, update');

alter table ledger_account add column is_wallet boolean not null
  generated always as (name like 'onchain:pay\_to@%' or name like 'onchain:custody@%') stored;
alter table ledger_transaction add column transfer_id bigint, add column transfer_turn smallint,
  add constraint ledger_transaction_transfer_turn check ((transfer_id is null) = (transfer_turn is null));
-- A transfer is posted once, whatever explains it.
create unique index ledger_transaction_transfer on ledger_transaction (transfer_id, transfer_turn)
  where transfer_id is not null;

-- Money that moved names its transfer, and moves by exactly that amount. What an address held before the books began is
-- its opening.
create function ledger_check_moved() returns trigger language plpgsql security definer
  set search_path = public, pg_temp set enable_seqscan = off set enable_mergejoin = off set enable_hashjoin = off as $$
declare
  bad bigint;
begin
  select e.transaction_id into bad from added e
    where (select a.is_wallet from ledger_account a where a.id = e.account_id)
      and not exists (
        select from ledger_transaction t where t.id = e.transaction_id
          and (t.kind = 'opening'
            or (select f.amount_micro from transfer f where f.id = t.transfer_id) = abs(e.amount_micro)))
    limit 1;
  if found then
    raise exception 'ledger transaction % moves money without a transfer of that amount', bad
      using errcode = 'check_violation', constraint = 'ledger_entry_moved';
  end if;
  return null;
end $$;
create trigger ledger_entry_moved after insert on ledger_entry
  referencing new table as added for each statement execute function ledger_check_moved();

drop function ledger_post(text[], text[], text[], boolean[], text[], text[], text[], text[], integer[], integer[], bigint[]);
-- As in 0120, with the transfer that each transaction books or reverses.
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
  if exists (select from generate_subscripts(transaction_references, 1) n (place) where n.place <> all (line_transactions)) then
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

-- Takes transfers for booking: a row that is not there is inserted, one that nothing explains yet is taken. The answer
-- names those that the caller may post; the others were booked before.
create function transfer_take(
  networks text[], assets text[], transactions text[], positions integer[], senders text[], recipients text[],
  amounts bigint[], nonces bytea[], block_numbers bigint[], block_hashes text[], kinds text[], subjects text[],
  now_at timestamptz
) returns table (place integer, id bigint, turn smallint) language sql
  set enable_seqscan = off set enable_mergejoin = off set enable_hashjoin = off as $$
  with given as (
    select * from unnest(networks, assets, transactions, positions, senders, recipients, amounts, nonces, block_numbers,
      block_hashes, kinds, subjects) with ordinality
      n (network, asset, transaction, position, sender, recipient, amount, nonce, block_number, block_hash, kind, subject, place)
  ), taken as (
    insert into transfer as t (network, asset, transaction, position, sender, recipient, amount_micro, nonce, block_number,
      block_hash, booked_as, booked_for, booked_at)
    select network, asset, transaction, position, sender, recipient, amount, nonce, block_number, block_hash, kind, subject,
      now_at
    from given order by network, asset, transaction, position
    on conflict (network, asset, transaction, position) do update
      set booked_as = excluded.booked_as, booked_for = excluded.booked_for, booked_at = excluded.booked_at,
        block_number = excluded.block_number, block_hash = excluded.block_hash
      where t.booked_as is null and t.sender = excluded.sender and t.recipient = excluded.recipient
        and t.amount_micro = excluded.amount_micro
    returning t.id, t.turn, t.network, t.asset, t.transaction, t.position
  )
  select g.place::integer, t.id, t.turn from given g join taken t using (network, asset, transaction, position)
$$;

-- Position instead of the log index: see transfer.
alter table payment rename column log_index to log_position;
