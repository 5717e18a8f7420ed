-- A hold sets money aside, it moves none: so it stands beside the balance it lies on, under the same guard, and the books
-- tell only what was taken. Nothing else can be posted against what is held.
alter table ledger_balance add column held_micro bigint not null default 0,
  add constraint ledger_balance_held check (held_micro between 0 and greatest(owed_micro, 0));

-- The balance a hold lies on. Null for passes, and for holds of credit that were posted to an account of their own before.
alter table entitled_call add column held_on bigint;

-- Holds credit for many calls at once: the nonce of each proof, the counters of its mandate, the balance and the row of the
-- call are one statement, so that they happen together or not at all. A call that cannot be held says why and leaves the
-- others alone. Candidates are places in the pool of credit accounts, best first, separated by blanks. Runs with the
-- owner's right, for balances must be locked before they are judged, and the application itself may not touch them.
-- With take_now there is no time between hold and capture: the caller posts what is taken in the same transaction, and
-- until then the locked balances keep others out.
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
  outcomes text[] := array_fill(null::text, array[hold_count]);
  chosen integer[] := array_fill(null::integer, array[hold_count]);
  lefts bigint[] := array_fill(null::bigint, array[hold_count]);
  days date[] := array_fill(null::date, array[hold_count]);
  terms mandate%rowtype;
  candidate integer;
begin
  -- Not waited for on its way to disk: nothing leaves the node before the capture, whose own commit writes all that came
  -- before it. A hold that a crash loses has lost its nonce and its counts with it, and nobody was served.
  if not take_now then
    perform set_config('synchronous_commit', 'off', true);
  end if;

  with claimed as (
    insert into nonce_claim (scope, key, expires_at)
      select 'erc8128', n.key, max(n.expires) from unnest(nonce_keys, nonce_expiries) n (key, expires)
      group by n.key order by n.key
      on conflict do nothing returning key
  )
  select array_agg(c.key is not null and n.nth = 1 order by n.place) into fresh
    from (select k.key, k.place, row_number() over (partition by k.key order by k.place) as nth
          from unnest(nonce_keys) with ordinality k (key, place)) n
    left join claimed c on c.key = n.key;

  if array_length(array_remove(hold_mandates, null), 1) > 0 then
    perform from mandate m where m.id = any (hold_mandates) order by m.id for no key update;
  end if;
  select array_agg((select a.id from ledger_account a where a.name = p.name) order by p.place) into credit_ids
    from unnest(pool_credits) with ordinality p (name, place);
  perform from ledger_balance b where b.account_id = any (credit_ids) order by b.account_id for no key update;
  select array_agg((select b.owed_micro - b.held_micro from ledger_balance b where b.account_id = c.id) order by c.place)
    into free
    from unnest(credit_ids) with ordinality c (id, place);

  for i in 1 .. hold_count loop
    if not fresh[i] then
      outcomes[i] := 'replayed';
      continue;
    end if;
    if hold_keys[i] is not null and exists (
      select from entitled_call e where e.port = 'credit' and e.account = hold_accounts[i]
        and e.idempotency_key = hold_keys[i] and e.state <> 'released') then
      outcomes[i] := 'named';
      continue;
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
      if free[candidate] >= hold_amounts[i] then
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

-- Takes many holds and posts what they move, in one statement. Gives how many were still held.
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
  perform from ledger_post(account_names, account_kinds, account_units, account_guards, transaction_references,
    transaction_kinds, transaction_payments, transaction_memos, line_transactions, line_accounts, line_amounts);
  return ended;
end $$;

-- Postings are made by ledger_post alone, which sees to it that each has lines; whoever writes rows by hand is still
-- checked when the transaction ends. The check looked at each row once more and was a good part of what a sale costs.
drop trigger ledger_transaction_not_empty on ledger_transaction;
create constraint trigger ledger_transaction_not_empty after insert on ledger_transaction
  deferrable initially deferred for each row when (current_setting('assay.posting', true) is distinct from 'on')
  execute function ledger_refuse_empty();
update app_access set privileges = 'select'
  where table_name in ('ledger_account', 'ledger_transaction', 'ledger_entry');

create or replace function ledger_post(
  account_names text[], account_kinds text[], account_units text[], account_guards boolean[],
  transaction_references text[], transaction_kinds text[], transaction_payments text[], transaction_memos text[],
  line_transactions integer[], line_accounts integer[], line_amounts bigint[]
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
