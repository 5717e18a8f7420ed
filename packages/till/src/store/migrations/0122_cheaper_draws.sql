-- What a draw costs beside its rows. The function is the one of 0120 but for two things: a nonce that comes twice in one
-- batch is found in the loop instead of by a window over all of them, and no query is planned for calls without a name.
create or replace function credit_reserve(
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
      select 'erc8128', n.key, n.expires from unnest(nonce_keys, nonce_expiries) n (key, expires)
      order by n.key, n.expires desc
      on conflict do nothing returning key
  )
  select array_agg(c.key is not null order by n.place) into fresh
    from unnest(nonce_keys) with ordinality n (key, place) left join claimed c on c.key = n.key;

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

-- The same addresses as before: the states of a pattern are made anew for each row, and a count in it means many.
alter table entitled_call drop constraint entitled_call_account_check,
  add constraint entitled_call_account_check check (length(account) = 42 and account ~ '^0x[0-9a-f]+$') not valid;
